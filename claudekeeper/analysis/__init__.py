"""Pure folds over the lines of a transcript."""
