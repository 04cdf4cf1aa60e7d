# Time and processes of sweeps, see cmake/check_seams.cmake.
seam(time sweeps "Clock (core/base/clock.hpp)"
     "(steady|system|high_resolution)_clock::now" "Stopwatch" "[^A-Za-z_.>]unix_time\\(" "clock_gettime" "gettimeofday"
     "std::time\\(")
seam(waiting sweeps "Clock::wait(), in a loop that ticks"
     "sleep_(for|until)" "nanosleep" "[^a-z]u?sleep\\(" "std::thread[^:]" "condition_variable")
seam(processes sweeps "Processes (core/base/processes.hpp)"
     "[^A-Za-z_.>]v?fork\\(" "posix_spawn" "[^A-Za-z_]exec[lv]p?e?\\(" "wait(pid|id)\\(" "[^A-Za-z_.>]kill\\([^)]"
     "getp?pid\\(" "this_process\\(" "surely_dead\\(" "oom_kills_in\\(" "ChildProcess[^:A-Za-z]" "run_(child|apart)\\("
     "(depthgrid::|[^A-Za-z_.>])ask\\((own|tool)_question" "std::system\\(" "popen\\(")
seam(signals sweeps "HeldSignals (core/base/held_signals.hpp), or the owner of this process's signals"
     "sigaction" "std::signal\\(" "(pthread_sig|sigproc)mask" "sig(timed)?wait(info)?\\(" "prctl\\(" "[^A-Za-z_]raise\\(")

spared(time sweeps/doctor "it measures this machine: its disks, its programs, Slurm's answers")
spared(processes sweeps/launch/launch_process.hpp "a launch on this machine is what stands behind RunningLaunch")
spared(time sweeps/run/stop_watch.cpp "it owns this process's signals, and waits for them")
spared(signals sweeps/run/stop_watch.cpp "the same")
