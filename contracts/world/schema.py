"""Builds the public schema: domains with their counts, and the ontology of the graph."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Document
from contracts.world.ontology import Ontology


class _Snake(BaseModel):
    """A document whose names are spelled as the interface prescribes."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class SchemaDomain(_Snake):
    """One domain of the graph."""

    name: str
    description: str
    node_count: int = Field(ge=0, description="Live public nodes at `revision`")


class SchemaNodeType(_Snake):
    """The domain of a node type, and the kinds of its named properties. Nodes may have other properties."""

    domain: str
    properties: dict[str, str]


class SchemaEnds(_Snake):
    """Node types that a relationship may connect."""

    sources: list[str]
    targets: list[str]


class SchemaRelationshipType(_Snake):
    """The meaning of a relationship, and the node types that it may connect."""

    description: str
    ends: list[SchemaEnds]
    single_valued: bool = Field(description="Whether a source has one target at a time")


class SchemaOntology(_Snake):
    """The complete rules of the graph."""

    version: str
    node_types: dict[str, SchemaNodeType]
    relationship_types: dict[str, SchemaRelationshipType]
    single_valued_predicates: list[str] = Field(
        description="Of nodes with one of these as `predicate`, one holds for a `subject` at a time"
    )


class Schema(_Snake):
    """The schema at a revision."""

    domains: list[SchemaDomain]
    node_types: list[str]
    relationship_types: list[str]
    ontology: SchemaOntology
    revision: int = Field(ge=0, description="Revision of the graph that was counted")


class SchemaAnswer(Document):
    """The envelope of the schema."""

    ok: Literal[True] = True
    data: Schema


def schema_of(ontology: Ontology, counts: dict[str, int], revision: int) -> Schema:
    """Returns the schema with the number of live public nodes by domain."""
    return Schema(
        domains=[
            SchemaDomain(name=name, description=description, node_count=counts.get(name, 0))
            for name, description in ontology.domains.items()
        ],
        node_types=list(ontology.node_types),
        relationship_types=list(ontology.edge_types),
        ontology=SchemaOntology(
            version=ontology.version,
            node_types={
                node_type.name: SchemaNodeType(domain=node_type.domain, properties=node_type.properties)
                for node_type in ontology.node_types.values()
            },
            relationship_types={
                edge_type.name: SchemaRelationshipType(
                    description=edge_type.description,
                    ends=[
                        SchemaEnds(sources=sorted(sources), targets=sorted(targets))
                        for sources, targets in edge_type.ends
                    ],
                    single_valued=edge_type.single_valued,
                )
                for edge_type in ontology.edge_types.values()
            },
            single_valued_predicates=sorted(ontology.single_valued_predicates),
        ),
        revision=revision,
    )
