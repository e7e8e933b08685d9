"""Describes the datasets in third-party formats: Data Package, Croissant and the Open Data Contract Standard."""

from collections.abc import Mapping, Sequence
from typing import Any

from contracts.discovery import service
from contracts.open_data.datasets import DataColumn, DataFile, Dataset, Kind, files_of
from contracts.open_data.names import CROISSANT_PATH, INDEX_PATH

MEDIA_TYPES = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv", "csv.gz": "application/gzip"}

DATA_MEDIA_TYPES = (
    "application/vnd.apache.parquet",
    "text/csv",
    "application/gzip",
    "application/octet-stream",
    "application/json",
    "application/yaml",
)
"""The media types of everything below `/data/`."""

_FRICTIONLESS: dict[Kind, str] = {"decimal": "number"}
"""Kinds with another name in a Data Package."""

_SCHEMA_ORG: dict[Kind, str] = {
    "integer": "sc:Integer",
    "number": "sc:Float",
    "decimal": "sc:Float",
    "string": "sc:Text",
    "boolean": "sc:Boolean",
    "datetime": "sc:DateTime",
    "date": "sc:Date",
}

_CROISSANT_PARQUET = "application/x-parquet"

_LOGICAL: dict[Kind, str] = {"decimal": "number", "datetime": "timestamp"}
"""Kinds with another name in a data contract."""


def data_package(base_url: str, datasets: Sequence[Dataset], files: Sequence[DataFile]) -> dict[str, Any]:
    """Builds the Data Package, with one resource per Parquet and CSV file.

    A resource of several Parquet files has no defined meaning there.
    """
    resources = [
        {
            "name": str(file.name).lower().replace("_", "-").replace(".", "-"),
            "title": dataset.name,
            "description": dataset.grain,
            "path": str(file.name),
            "format": file.name.format,
            "mediatype": MEDIA_TYPES[file.name.format],
            "encoding": "utf-8",
            # Frictionless does not count the bytes of Parquet, and rejects any number here. The manifest has them.
            **({"bytes": file.bytes, "hash": f"sha256:{file.sha256}"} if file.name.format == "csv" else {}),
            "schema": {"fields": [_field(column) for column in dataset.columns]},
        }
        for dataset in datasets
        for file in files_of(dataset, files)
        if file.name.format != "csv.gz"
    ]
    return {
        "name": f"{service.SERVICE_ID}-open-data",
        "title": f"Open data of {service.SERVICE_NAME}",
        "description": _DESCRIPTION,
        "homepage": base_url + INDEX_PATH,
        "resources": resources,
    }


def croissant(base_url: str, datasets: Sequence[Dataset], files: Sequence[DataFile]) -> dict[str, Any]:
    """Builds the Croissant 1.0 description: all Parquet files, and one record set per dataset over its newest file.

    Croissant's own library validates record sets over several Parquet files, but reads none of their rows. It requires
    a hash for every file, so growing files are omitted.
    """
    settled = [file for file in files if not file.grows and file.name.format == "parquet"]
    own = {dataset.name: files_of(dataset, settled) for dataset in datasets}
    return {
        "@context": _CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{service.SERVICE_ID}_open_data",
        "description": _DESCRIPTION,
        "url": base_url + CROISSANT_PATH,
        "version": service.SERVICE_VERSION,
        "isLiveDataset": True,
        "distribution": [_file_object(base_url, file) for dataset in datasets for file in own[dataset.name]],
        "recordSet": [_record_set(dataset, own[dataset.name][-1]) for dataset in datasets if own[dataset.name]],
    }


def _file_object(base_url: str, file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": str(file.name),
        "name": str(file.name),
        "contentUrl": base_url + file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _CROISSANT_PARQUET,
        "sha256": file.sha256,
    }


def _record_set(dataset: Dataset, newest: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": dataset.name,
        "name": dataset.name,
        "description": f"{dataset.grain} These are the rows of the newest file; the others have the same columns.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{dataset.name}/{column.name}",
                "name": column.name,
                "description": column.meaning,
                "dataType": _SCHEMA_ORG[column.kind],
                "source": {"fileObject": {"@id": str(newest.name)}, "extract": {"column": column.name}},
            }
            for column in dataset.columns
        ],
    }


def data_contract(base_url: str, dataset: Dataset) -> dict[str, Any]:
    """Builds the contract of a dataset (ODCS 3.1) from the declaration of its table.

    It contains the columns, and the checks that the pipeline runs before it publishes.
    """
    table: dict[str, Any] = {
        "name": dataset.name,
        "physicalName": dataset.name,
        "physicalType": "table",
        "logicalType": "object",
        "description": dataset.grain,
        "properties": [
            {
                "name": column.name,
                "logicalType": _LOGICAL.get(column.kind, column.kind),
                "physicalType": column.type,
                "description": column.meaning,
                "required": column.required,
            }
            for column in dataset.columns
        ],
    }
    if dataset.check is not None:
        table["quality"] = [
            {"type": "sql", "name": name, "description": dataset.check.promise, "query": query, "mustBe": 0}
            for name, query in dataset.check.violations.items()
        ]
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": f"{service.SERVICE_ID}-{dataset.name}",
        "name": dataset.name,
        "version": service.SERVICE_VERSION,
        "status": "active",
        "dataProduct": service.SERVICE_NAME,
        "description": {"purpose": dataset.grain, "limitations": _LIMITATIONS},
        "servers": [
            {
                "server": "public",
                "type": "custom",
                "description": "Files over HTTP, listed in the index",
                "customProperties": [{"property": "index", "value": base_url + INDEX_PATH}],
            }
        ],
        "schema": [table],
    }


def _field(column: DataColumn) -> dict[str, Any]:
    # Frictionless reads Parquet like pandas, where an optional integer is a float.
    optional_integer = column.kind == "integer" and not column.required
    type_ = "number" if optional_integer else _FRICTIONLESS.get(column.kind, column.kind)
    described: dict[str, Any] = {"name": column.name, "type": type_, "description": column.meaning}
    return described | ({"constraints": {"required": True}} if column.required else {})


_DESCRIPTION = (
    "Holder lists, transfers, prices, contract balances and trust of one token, read from its chain and public feeds. "
    "Amounts are exact as decimal text in smallest units (`<name>_raw`), and rounded in whole tokens (`<name>`)."
)
_LIMITATIONS = "The SQL of quality rules runs in the service's warehouse, on the table from which the dataset is built."

_CROISSANT_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
