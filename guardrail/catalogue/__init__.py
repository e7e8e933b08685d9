"""The knowledge about programs, as data: the files in `programs/`, and the code that loads, compiles and checks
them."""
