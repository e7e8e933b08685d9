"""Here belongs what programs do, as data: the files in `programs/`, and how they are loaded, compiled and checked."""
