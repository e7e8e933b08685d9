"""Opens a span for each step of a run, so that the step's requests to other services belong to it."""

from contextlib import ExitStack

import dagster as dg

from warehouse.tracing import Span, span


class StepSpans(ExitStack):
    """The open step of a run, if any. Steps of a run follow one another in the thread that reads its events."""

    _step: Span

    def follow(self, event: dg.DagsterEvent) -> None:
        """Opens the span of a starting step, and closes that of an ending one."""
        if event.is_step_start and event.step_key:
            step = span(f"step {event.step_key}", attributes={"svc.step": event.step_key})
            self._step = self.enter_context(step)
        elif event.is_step_success or event.is_step_failure:
            self._step.set_attribute("svc.succeeded", event.is_step_success)
            self.close()
