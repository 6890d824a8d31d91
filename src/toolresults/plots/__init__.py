"""Every figure of the workbook: `from toolresults import plots`, then `plots.style()` in a notebook's first cell."""

from .look import BLUE, GREEN, GREY, ORANGE, PALETTE, PURPLE, RED, SKY, budget_line, label, style
from .measuring import estimate_figure, fields_figure, headline_description, headline_figure, save_headline
from .paging import filter_costs, paging_faults, where_to_filter
from .shaping import budget_filled, concise_share, reading, trimming

__all__ = [
    "BLUE", "GREEN", "GREY", "ORANGE", "PALETTE", "PURPLE", "RED", "SKY", "budget_filled", "budget_line",
    "concise_share", "estimate_figure", "fields_figure", "filter_costs", "headline_description",
    "headline_figure", "label", "paging_faults", "reading", "save_headline", "style", "trimming",
    "where_to_filter",
]  # fmt: skip
