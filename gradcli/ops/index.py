"""Reading entries: integers, slices, lists, masks, sorting."""
