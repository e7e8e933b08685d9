import io

from pipelines.progress import Progress, logged_progress, show_progress

HALF = Progress(first_block=0, at_block=499, last_block=999, slice_blocks=500, slice_logs=2_000, elapsed_s=4.0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_says_how_far_how_fast_and_how_long():
    assert (HALF.percent, HALF.logs_per_s, HALF.left_s) == (50.0, 500.0, 4.0)


def test_before_anything_is_read_no_end_is_estimated():
    start = Progress(first_block=0, at_block=-1, last_block=999, slice_blocks=0, slice_logs=0, elapsed_s=0.0)
    assert (start.percent, start.left_s) == (0.0, None)


def test_a_history_of_nothing_is_complete():
    assert (
        Progress(first_block=10, at_block=9, last_block=9, slice_blocks=0, slice_logs=0, elapsed_s=1.0).percent == 100.0
    )


def test_without_a_terminal_a_line_is_written_every_five_seconds():
    lines, now = [], [0.0]
    listen = logged_progress(lines.append, lambda: now[0])
    for moment in (1.0, 4.9, 5.0, 5.1, 9.9, 10.0):
        now[0] = moment
        listen(HALF)
    assert lines == ["transfers 50.0 %, block 499 of 999, 500 events/s, 0:04 left"] * 2


def test_a_terminal_gets_a_bar():
    terminal = Terminal()
    with show_progress(terminal) as listen:
        listen(HALF)
    assert "50.0%" in terminal.getvalue()
    assert "500 events/s" in terminal.getvalue()
