"""Every figure of the workbook: `from workbook import plots`, then `plots.style()` in a notebook's
first cell.
"""

# ruff: noqa: F401
from .billing import input_per_turn, money_by_turn, technique_bill
from .code import answer_ways, break_even_growth, definition_growth, who_holds_what
from .look import BLUE, GREEN, RED, label, style
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
