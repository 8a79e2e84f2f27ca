-- Chunks that a model's provider refuses to embed: published without a vector, and found by their words.

-- The model (embedding_models.num) that refuses the text; null for the others. Part of the run, so that the next run of the document asks again.
-- A process of the version before does not read it: where it takes over such a run it asks the provider again and then waits or fails as that
-- version does, since it publishes nothing whose vectors are not whole. Until it is gone, its integrity check calls a document that was
-- published so incomplete.
alter table chunks add column refused_by smallint;
