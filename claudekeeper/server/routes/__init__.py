"""One file for each subject of the contract."""
