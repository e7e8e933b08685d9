"""The record of the processes that serve a data directory: it counts as long as one of them lives."""

from pathlib import Path

import pytest
from serving_process import serving

from contracts.errors import ForeignGeneration
from contracts.settings import Settings
from warehouse.publish.served_address import refuse_other_address, served_address

HERE, ELSEWHERE = "http://127.0.0.1:28310", "http://127.0.0.1:28330"


def settings(data_dir: Path, base_url: str) -> Settings:
    return Settings(data_dir=data_dir, base_url=base_url, _env_file=None)


def test_a_directory_that_nobody_serves_has_no_address(tmp_path: Path):
    assert served_address(tmp_path) is None
    refuse_other_address(settings(tmp_path, ELSEWHERE))


def test_an_address_is_served_until_the_last_process_has_ended(tmp_path: Path):
    with serving(tmp_path, HERE) as first:
        with serving(tmp_path, HERE):
            assert served_address(tmp_path) == HERE
        assert served_address(tmp_path) == HERE
        first.kill()
        first.wait()
        assert served_address(tmp_path) is None
    assert list((tmp_path / "serving").iterdir()) == []


def test_settings_of_another_address_are_refused_with_the_one_that_is_served(tmp_path: Path):
    with serving(tmp_path, HERE):
        refuse_other_address(settings(tmp_path, HERE))
        with pytest.raises(ForeignGeneration) as refused:
            refuse_other_address(settings(tmp_path, ELSEWHERE))
    assert refused.value.what == f"A service is running on {tmp_path} for {HERE}, not {ELSEWHERE}."
    assert refused.value.cure == f"Set SVC_BASE_URL={HERE}, or stop that service first to publish for another address."
