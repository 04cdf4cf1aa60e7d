# blame(<text>): an error of a check, which goes on and counts it in `bad`. Whoever calls it in a function of its
# own hands `bad` on to the scope above.
set(bad 0)
function(blame text)
  message(SEND_ERROR "${text}")
  math(EXPR bad "${bad}+1")
  set(bad ${bad} PARENT_SCOPE)
endfunction()
