/**
 * Documents say which version read them (`processing_state.parser_version`), so that those of an older one
 * can be found and processed again. Raise it whenever a parser gives other units, locations, metadata or
 * warnings for a file that it read before, or chunks get other headers.
 */
export const PARSER_VERSION = 1;
