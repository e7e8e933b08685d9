"""Extracts graphs from documents without a model: structure gives typed nodes, each with its text span.

`build` reads each document with the module of its form: `prose`, `tables`, `objects` or `appointments`. Each of them
adds to a `document_reading`. A module imports only modules of its own line below, and of the lines above that one:

- positions and markup: `findings`, `document_text`, `yaml_texts`, `markdown`, `outlines`, `mails`, `struck`,
  `inline_markup`
- words: `vocabulary`, `phrases`, `figures`, `people`, `due_dates`, `listed_states`, `segmentation`, `quotations`
- sentences: `decisions`, `dependencies`, `commitments`
- contributions to a graph: `predicates`, `document_reading`, `mentions`, `passages`, `parties`, `relations`, `triples`,
  `references`
- parts of prose: `labels`, `prose_context`, `titles`, `headings`, `entries`, `labelled_lines`, `tasks`, `conversations`
- whole documents: `prose`, `tables`, `objects`, `appointments`, `statements`, `build`, `rebuild`
"""
