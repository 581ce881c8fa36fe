"""Folders, archives and compressed files, and the limits on them."""
