"""Grading in this process, one submission after the other."""

from concurrent.futures import Executor, Future


class Here(Executor):
    """Runs at once, in this thread, whose process for answers is there already."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future
