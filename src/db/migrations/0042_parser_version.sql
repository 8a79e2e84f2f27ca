-- The version of the parsers that read the file (src/parsers/version.ts); null in what 0.10 and earlier read.
alter table pipeline_runs add column parser_version int;
