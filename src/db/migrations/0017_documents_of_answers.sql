-- Documents that a kept answer may rest on: a repeat is given it only while its caller reaches all of them. Null where a version before this one ran the turn.

alter table kept_turns add column document_ids uuid[];
