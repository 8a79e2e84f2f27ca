-- Where the words of a chunk stand: in the document's text, and in the file (src/domain/locations/packed.ts).
-- Null in what versions before 0.9.0 wrote, and where a parser does not know.

alter table chunks
  add column start_offset int,
  add column end_offset int,
  add column places jsonb;
