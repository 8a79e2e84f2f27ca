-- What a chunk is about, in the words of its document: the title and the headings above the chunk, a line each
-- (src/activities/pipeline/chunk-header.ts). It is embedded and indexed with the text, and never shown. Empty if
-- there is nothing to say; null in what versions before 0.10.0 wrote, which is embedded and indexed without one.

alter table chunks add column header text;

-- How much headers add to the counts of the part's postings; `terms` are those of texts alone. Versions before
-- write parts without headers.
alter table posting_runs add column header_terms bigint not null default 0;
