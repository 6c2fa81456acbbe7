"""CCSKL on a GPU: seconds by stage, recall and agreement, beside the CPU of the same machine."""
