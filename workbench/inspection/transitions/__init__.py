"""The learned transition scores of a CRF."""
