"""Every figure of the workbook: `from workbook import plots`, then `plots.style()` in a notebook's
first cell.
"""

from .billing import input_per_turn, money_by_turn, technique_bill
from .code import answer_ways, break_even_growth, definition_growth, who_holds_what
from .look import BLUE, GREEN, GREY, ORANGE, PALETTE, PURPLE, RED, SKY, budget_line, label, style
from .loops import (
    clearing_batches,
    history_triangle,
    model_calls,
    sequence,
    trimmed_money,
    trimmed_turns,
)
from .measuring import (
    estimate_figure,
    fields_figure,
    headline_description,
    headline_figure,
    save_headline,
)
from .paging import filter_costs, paging_faults, where_to_filter
from .shaping import budget_filled, concise_share, reading, trimming

__all__ = [
    "BLUE", "GREEN", "GREY", "ORANGE", "PALETTE", "PURPLE", "RED", "SKY", "answer_ways", "break_even_growth",
    "budget_filled", "budget_line", "clearing_batches", "concise_share", "definition_growth", "estimate_figure",
    "fields_figure", "filter_costs", "headline_description", "headline_figure", "history_triangle", "input_per_turn",
    "label", "model_calls", "money_by_turn", "paging_faults", "reading", "save_headline", "sequence", "style",
    "technique_bill", "trimmed_money", "trimmed_turns", "trimming", "where_to_filter", "who_holds_what",
]  # fmt: skip
