import gzip
import json
from datetime import timedelta
from pathlib import Path

import brotli
import pytest
import zstandard
from publishing import AGEING, BASE_URL, DOCUMENTS, FEW, NOON, ONE_LIST, PUBLISHED, House, published_house
from pydantic import ValidationError
from serving_process import serving

from contracts.errors import ForeignGeneration, GenerationBroken
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, mark_stale, render
from contracts.publish.routes import file_of
from pipelines.publish.documents import published_document
from pipelines.publish.generation import PublishReport, refuse_gaps, republish
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.rows import insert
from warehouse.publish.generations import begin, current_generation
from warehouse.publish.readers import context_for
from warehouse.token.holder_lists import write_storage_proof


def body(house: House, path: str, tree: str = "public") -> dict:
    return json.loads((house.current / tree / file_of(path)).read_bytes())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house with 70 holders after its first publish; only to be read and copied."""
    return published_house(tmp_path_factory.mktemp("published"), ONE_LIST)


@pytest.fixture
def house(published: House, tmp_path: Path) -> House:
    """A copy of the published house to continue from."""
    return published.copied(tmp_path)


def test_the_first_generation_comes_before_any_data(tmp_path):
    house = House(tmp_path)
    report = house.publish()
    assert report.published
    assert set(report.changed_documents) == set(PUBLISHED)
    for path in DOCUMENTS:
        document = body(house, path)
        assert document["ok"] is True
        assert document["quality"] == "unavailable"
        assert document["reason"]
        assert document["stale"] is False


def test_documents_carry_data_freshness_and_their_generation(published):
    document = body(published, "/api/token/holders")
    assert next(iter(document)) == "ok"
    assert document["holderCount"] == 70
    assert document["generation"] == published.current.name
    assert document["generatedAt"] == "2026-01-02T12:01:00Z"
    assert document["fetchedAt"] == "2026-01-02T12:00:00Z"
    assert document["staleAfter"] == "2026-01-02T12:15:00Z"


def test_every_body_is_stored_next_to_its_encodings(published):
    plain = published.current / "public/api/token/holders-map.json"
    content = plain.read_bytes()
    assert gzip.decompress(plain.with_name(plain.name + ".gz").read_bytes()) == content
    assert brotli.decompress(plain.with_name(plain.name + ".br").read_bytes()) == content
    assert zstandard.ZstdDecompressor().decompress(plain.with_name(plain.name + ".zst").read_bytes()) == content


@pytest.mark.parametrize("size", [0, 1000, 100_000])
def test_the_levels_of_a_service_keep_a_body_and_make_it_smaller(published_encoders, size):
    content = b'{"balance": "1000"}' * (size // 19)
    decoders = {"br": brotli.decompress, "zstd": zstandard.ZstdDecompressor().decompress, "gzip": gzip.decompress}
    for coding, encode in published_encoders.items():
        assert decoders[coding](encode(content)) == content
        assert len(encode(content)) <= max(len(content) // 8, 20)


def test_publishing_again_without_a_change_makes_no_generation(house):
    first = house.current.name
    again = house.publish()
    assert (again.published, again.generation, again.bytes_written) == (False, first, 0)


def test_an_unchanged_document_keeps_bytes_origin_and_time(house):
    first = house.current.name
    before = {path: house.current / "public" / file_of(path) for path in DOCUMENTS}
    house.read_chain([(30, "0x" + "0" * 40, "0x" + "ee" * 20, 5)], 40)
    second = house.publish(*DOCUMENTS, "/artifacts/pricing")
    assert set(second.changed_documents) >= set(DOCUMENTS)
    pricing = house.current / "public/artifacts/pricing.json"
    assert pricing.samefile(before[DOCUMENTS[0]].parents[2] / "artifacts/pricing.json")
    entries = current_generation(house.data_dir).manifest.documents
    assert entries["/artifacts/pricing"].generation == first
    assert entries["/api/token/holders"].generation == second.generation


def judge_something(connection: Connection) -> None:
    fact = {"blocking": True, "fact": "absurd_prices", "value": 0.0, "minimum": 0.0, "maximum": 0.0, "passed": True}
    judged = {"table_name": "out_market__eth_price", "judged_by": "bounds", "judged_at": NOON}
    insert(connection, "out_checks__results", fact | judged | {"check_name": "served_price_is_sound"})


def test_a_run_of_moved_tables_builds_only_the_documents_that_read_them(house):
    paths = ("/api/token/holders", "/checks.json", "/api/worldmodel/live")
    house.publish(*paths)
    for path in paths:
        file = house.current / "public" / file_of(path)
        file.write_bytes(file.read_bytes() + b" ")  # so that the file shows whether it was built again
    house.read_chain([(30, "0x" + "0" * 40, "0x" + "ee" * 20, 5)], 40)
    with Warehouse(house.data_dir).connect() as connection:
        judge_something(connection)

    def linked() -> set[str]:
        return {path for path in paths if (house.current / "public" / file_of(path)).read_bytes().endswith(b" ")}

    house.publish(*paths, unmoved=())
    assert linked() == {"/api/worldmodel/live"}
    entries = current_generation(house.data_dir).manifest.documents
    house.publish(*paths, unmoved=())
    assert current_generation(house.data_dir).manifest.documents == entries, "nothing has moved since"


def test_a_document_that_a_run_of_one_room_made_does_not_outlive_tables_that_are_as_they_were_before(house):
    path = "/checks.json"
    house.publish(path)
    before = body(house, path)
    with Warehouse(house.data_dir).connect() as connection:
        judge_something(connection)
        house.now += timedelta(minutes=1)
        row = next(row for row in PROJECTIONS if row.path == path)
        republish(context_for(connection, house.settings), house.settings, [row], now=house.now)
        assert body(house, path) != before
        connection.execute("delete from out_checks__results")

    house.publish(path, unmoved=())

    assert body(house, path) == before


def test_lists_go_with_the_generation_as_links(published):
    for name, kept in (("public/data/holders-20.csv.gz", "holders-20.csv.gz"), ("holders/holders-20.parquet",) * 2):
        assert (published.current / name).samefile(published.data_dir / "holders" / kept.removeprefix("holders/"))
    proof = body(published, "/api/token/holders")["consistency"]["proof"]
    component = current_generation(published.data_dir).manifest.components["public/data/holders-20.csv.gz"]
    assert proof["holderList"]["sha256"] == component.sha256


def test_a_storage_proof_goes_with_its_list(house):
    written = write_storage_proof(house.data_dir, 20, gzip.compress(b"{}"))
    house.publish("/api/token/holders")
    assert (house.current / "public" / written.path.lstrip("/")).samefile(
        house.data_dir / "holders/holders-20.storage.json.gz"
    )
    component = current_generation(house.data_dir).manifest.components[f"public{written.path}"]
    assert (component.sha256, written.bytes) == (written.sha256, len(gzip.compress(b"{}")))


def test_a_stale_body_is_stored_next_to_the_fresh_one(published):
    fresh, stale = body(published, "/api/token/holders"), body(published, "/api/token/holders", "stale")
    assert (fresh["stale"], fresh["reason"]) == (False, None)
    assert (stale["stale"], stale["reason"]) == (True, "expired")
    different = {"stale", "reason"}
    assert {k: v for k, v in fresh.items() if k not in different} == {
        k: v for k, v in stale.items() if k not in different
    }


def test_after_a_failed_check_the_same_data_is_stale_with_the_reason(house):
    first = house.current.name
    good = body(house, "/api/token/holders")
    bodies = {path: body(house, path) for path in AGEING}
    off = {path: each for path, each in bodies.items() if each.get("data", each)["reason"] == "not_configured"}
    assert "/api/integrations/partner/base-snapshot" in off
    report = house.republish_stale("check_failed")
    pages = {row.path for row in PROJECTIONS if not row.is_described}
    assert set(report.changed_documents) - pages == set(AGEING) - set(off)
    assert {path: body(house, path) for path in off} == off
    marked = body(house, "/api/token/holders")
    assert marked == good | {"stale": True, "reason": "check_failed"}
    assert marked["generation"] == first


def test_republishing_stale_twice_changes_nothing_more(house):
    first = house.republish_stale()
    assert house.republish_stale().generation == first.generation
    assert not house.republish_stale().published
    assert house.republish_stale("another_reason").published


def test_a_good_publish_takes_the_mark_away_and_gives_the_bytes_back(house):
    good = (house.current / "public/api/token/holders.json").read_bytes()
    house.republish_stale()
    assert house.publish(*DOCUMENTS).published
    assert (house.current / "public/api/token/holders.json").read_bytes() == good


def test_before_the_first_generation_there_is_nothing_to_mark(tmp_path):
    house = House(tmp_path)
    report = house.republish_stale()
    assert (report.published, report.generation) == (False, None)
    assert not (tmp_path / "current").exists()


def test_another_base_url_is_another_generation(tmp_path):
    house = House(tmp_path)
    house.publish(*DOCUMENTS, "/openapi.json")
    moved = House(tmp_path, base_url="https://other.example")
    moved.now = house.now
    report = moved.publish(*DOCUMENTS, "/openapi.json")
    assert "/openapi.json" in report.changed_documents
    assert not set(DOCUMENTS) & set(report.changed_documents)
    assert body(moved, "/openapi.json")["servers"] == [{"url": "https://other.example"}]
    assert BASE_URL != "https://other.example"


def made_elsewhere(house: House) -> None:
    """Changes the last generation to one for another address: its documents stay, like those of a run here."""
    manifest = house.current / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"baseUrl": "{BASE_URL}"', '"baseUrl": "https://other.example"'))


def test_a_generation_after_one_for_another_address_has_every_document_again(tmp_path: Path):
    house = House(tmp_path)
    house.publish(*FEW, "/", "/connect/")
    whole = current_generation(tmp_path)
    assert whole is not None
    made_elsewhere(house)
    assert house.publish(*FEW, "/", "/connect/").published
    again = current_generation(tmp_path)
    assert again is not None
    assert (again.manifest.base_url, set(again.manifest.documents)) == (BASE_URL, set(whole.manifest.documents))


def test_a_generation_for_another_address_is_never_republished_in_part(tmp_path: Path):
    house = House(tmp_path)
    house.publish(*FEW)
    made_elsewhere(house)
    before = house.current
    assert house.republish_stale() == PublishReport(None, published=False)
    with house.warehouse.connect() as connection:
        report = republish(context_for(connection, house.settings), house.settings, PROJECTIONS)
    assert (report, house.current) == (PublishReport(None, published=False), before)


def test_next_to_a_service_for_another_address_nothing_is_published(tmp_path: Path):
    house = House(tmp_path)
    house.publish(*FEW)
    before = house.current
    moved = House(tmp_path, base_url="https://other.example")
    with serving(tmp_path, BASE_URL):
        with pytest.raises(ForeignGeneration, match=f"A service is running on {tmp_path} for {BASE_URL}"):
            moved.publish(*FEW)
        assert house.current == before
    assert moved.publish(*FEW).published


def test_a_generation_that_would_lack_a_document_is_refused():
    row = next(row for row in PROJECTIONS if row.path == "/llms.txt")
    refuse_gaps([row], {"/llms.txt"})
    with pytest.raises(GenerationBroken, match=r"would lack /llms\.txt and so 1 of its documents; it is not published"):
        refuse_gaps([row], {"/connect/"})


HOLDERS = next(row for row in PROJECTIONS if row.name == "token_holders")
UNAVAILABLE = {
    "source": None, "quality": "unavailable", "reason": "not_configured", "observed_at": None, "fetched_at": None,
    "holder_count": None, "token": None, "chain_id": None, "total_supply_raw": None, "total_supply": None,
    "consistency": None, "discrepancy": [], "concentration": None, "largest": [], "backfill": None, "snapshots": [],
}  # fmt: skip


def test_fields_that_are_not_the_models_are_refused(tmp_path):
    house = House(tmp_path)
    origin = Origin("g", house.now)
    with pytest.raises(ValueError, match="surprise"):
        render(HOLDERS, UNAVAILABLE | {"surprise": 1}, origin)
    with pytest.raises(ValueError, match="snapshots"):
        render(HOLDERS, {k: v for k, v in UNAVAILABLE.items() if k != "snapshots"}, origin)


def test_a_body_that_breaks_its_model_is_not_published(tmp_path):
    with pytest.raises(ValidationError):
        published_document(HOLDERS, UNAVAILABLE | {"holder_count": "many"}, begin(tmp_path, House(tmp_path).now))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_not_published(tmp_path, number):
    backfill = {"percent": number, "block": None, "finalizedBlock": None}
    with pytest.raises(ValidationError, match="finite"):
        published_document(HOLDERS, UNAVAILABLE | {"backfill": backfill}, begin(tmp_path, House(tmp_path).now))


def test_rendering_past_its_time_says_expired_and_keeps_a_reason_of_its_own(tmp_path):
    now = House(tmp_path).now
    fields = UNAVAILABLE | {"fetched_at": now, "quality": "estimated", "reason": "backfilling"}
    late = json.loads(render(HOLDERS, fields, Origin("g", now), now=now + timedelta(days=1)))
    assert (late["stale"], late["reason"]) == (True, "backfilling")
    early = render(HOLDERS, fields, Origin("g", now), now=now)
    assert json.loads(early)["stale"] is False
    assert json.loads(mark_stale(HOLDERS, early, "why"))["reason"] == "why"
