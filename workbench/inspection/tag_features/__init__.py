"""What the features of each word add to a tag of a CRF."""
