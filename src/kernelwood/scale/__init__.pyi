from .index_folder import IndexFolder as IndexFolder
