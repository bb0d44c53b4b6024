"""XML: UIMA CAS, TEI, BioC, SemEval and word senses."""
