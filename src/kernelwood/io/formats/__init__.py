"""File formats, one module each with reader and writer; `table` lists them."""
