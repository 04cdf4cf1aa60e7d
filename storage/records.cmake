# Headers and sources of the records: variables, plan, cell files, packed file, summary.
set(storage_records_headers
    attempt_columns.hpp cell_facts.hpp cell_file.hpp cell_metrics.hpp cell_state.hpp chunk_codec.hpp
    column_table.hpp dimensions.hpp pack.hpp pack_axes.hpp pack_records.hpp pack_series.hpp
    pack_sources.hpp param_columns.hpp plan_file.hpp summary.hpp table_reader.hpp table_writer.hpp
    variables.hpp)
set(storage_records_sources
    attempt_columns.cpp cell_file.cpp cell_metrics.cpp cell_state.cpp chunk_codec.cpp
    column_table.cpp dimensions.cpp pack.cpp pack_axes.cpp pack_records.cpp pack_series.cpp
    pack_sources.cpp param_columns.cpp plan_file.cpp summary.cpp table_reader.cpp table_writer.cpp
    variables.cpp)
# Chunks of the packed file are compressed by several threads, which HDF5 itself cannot do.
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
cmake_language(DEFER CALL target_link_libraries storage PRIVATE ZLIB::ZLIB Threads::Threads)
