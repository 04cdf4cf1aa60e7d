# Files of the store and of sweeps, see cmake/check_seams.cmake. Arithmetic of paths is no call.
set(free_functions exists is_[a-z_]+ create_[a-z_]+ remove remove_all rename copy copy_[a-z]+ file_size
    last_write_time canonical weakly_canonical absolute read_symlink status symlink_status space permissions
    resize_file equivalent hard_link_count current_path temp_directory_path directory_entry directory_iterator
    recursive_directory_iterator)
set(system_calls openat fsync fdatasync renameat2? linkat unlink unlinkat mkdir rmdir fstat lstat fstatat statvfs
    statfs ftruncate pread pwrite opendir readdir umask fchmod faccessat mkdtemp mkstemp memfd_create fopen)
list(JOIN free_functions "|" free_functions)
list(JOIN system_calls "|" system_calls)
foreach(folder IN ITEMS storage sweeps)
  seam(files_${folder} ${folder} "Fs (core/base/fs.hpp), that of the store: Store::fs()"
       "\n#include <(fcntl|sys/(stat|statvfs|vfs|file|mman)|dirent)\\.h>" "\n#include <fstream>"
       "(fs|filesystem)::(${free_functions})[^A-Za-z0-9_]" "std::[io]?fstream"
       "[^A-Za-z0-9_>:.]::(open|read|write|close|rename|link|remove|stat|access|chmod) *\\("
       "[^A-Za-z0-9_>:.](${system_calls}) *\\(")
endforeach()

spared(files_sweeps sweeps/doctor/machine_checks.cpp "it measures this machine")
spared(files_sweeps sweeps/doctor/rank_checks.cpp "the same")
spared(files_sweeps sweeps/doctor/store_checks.cpp "it measures what a file system does")
spared(files_sweeps sweeps/page/page_data.cpp "it resolves the name of a folder, for a title")
