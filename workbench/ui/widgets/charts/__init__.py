"""Charts: axes and layers of data on pyqtgraph, and how charts are saved."""
