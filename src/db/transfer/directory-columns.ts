/** The columns of an organization's directory that an archive holds, for its export and its import. */

export const USER_COLUMNS = "id, email, confirmed_email, name, avatar_url, role, created_at, removed_at";

export const SPACE_COLUMNS = "id, name, is_private, owner_id, created_at, updated_at";

export const SPACE_MEMBER_COLUMNS = "space_id, user_id, role";

export const FOLDER_COLUMNS =
  "id, space_id, parent_folder_id, name, from_system, created_by, created_at, updated_at";

/** What a folder that is a vector store has beyond a folder. */
export const STORE_COLUMNS =
  "folder_id, name, folder_name, description, metadata, chunking, expires_after_days, created_at, last_active_at";

/** The public halves alone: an organization that was imported makes a key of its own for new receipts. */
export const RECEIPT_KEY_COLUMNS = "kid, public_key, created_at, retired_at";

export const AGENT_COLUMNS = `
  id,
  space_id,
  name,
  description,
  version,
  agent_type,
  model,
  system_prompt,
  temperature,
  max_tokens,
  reasoning_config,
  tool_attachments,
  is_public,
  show_citations,
  require_support,
  save_to_inbox,
  data_access_mode,
  allowed_folder_ids,
  from_system,
  conversation_count,
  created_by,
  last_edited_by,
  created_at,
  updated_at`;
