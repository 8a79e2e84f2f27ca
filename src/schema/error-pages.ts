/** What the guide says of each error code: what caused it, and the way out. Its pages are at /docs/errors. */
import type { ErrorReason } from "../domain/errors.ts";

interface ErrorPage {
  readonly cause: string;
  readonly wayOut: string;
}

const page = (cause: string, wayOut: string): ErrorPage => ({ cause, wayOut });

const OUT_OF_REACH =
  "It does not exist, was deleted, or you do not have access to it; the answer never says which.";
const SEE_THE_LIST = (call: string): string =>
  `${call} lists what you can access. A key can access only its own spaces.`;
const WORK_GOES_ON =
  "Accepted work waits and continues automatically. Retry a request that failed after `Retry-After`.";
const SEND_AGAIN = "Retry the request after `Retry-After`.";
const SEND_ANOTHER_FILE = "The document keeps its previous version, if it has one.";

export const ERROR_PAGES: Readonly<Record<ErrorReason, ErrorPage>> = {
  // A request that cannot be served as it is.
  bad_request: page(
    "The request is well formed but conflicts with the current state; the message says how.",
    "Follow the message. Sending the same request again gives the same answer.",
  ),
  malformed_body: page(
    "The body is not UTF-8, arrived too slowly, has JSON that is nested too deeply or has too many " +
      "values, is not a multipart form, or has too many fields. JSON with a syntax error is `invalid` instead.",
    "Send `application/json` in UTF-8, or a form whose header and boundary your HTTP library sets.",
  ),
  malformed_request: page(
    "The request is not valid HTTP/1.1.",
    "Check for a proxy that changes requests, or for HTTPS sent to an HTTP port.",
  ),
  body_too_large: page(
    "The file, a field or the JSON body is larger than this instance accepts.",
    "Send less at once. The operator sets the maximum file size with `MAX_UPLOAD_BYTES`.",
  ),
  invalid: page(
    "A field of the path, query, headers or body is missing or has an invalid value. " +
      "`detail` lists all such fields; `param` is the first. For a JSON syntax error, `param` is its " +
      "position, as in `[1]`. If a correct body gets “Input should be a valid dictionary”, its `Content-Type` is not JSON.",
    'Correct the fields. Nothing was changed. With curl, `-d` needs `-H "Content-Type: application/json"`.',
  ),
  already_exists: page(
    "This name, path or e-mail address is already in use.",
    "Choose another one, or change the resource that uses it.",
  ),
  already_ended: page("The run or batch has ended.", "Start a new one if you need it."),
  folder_cycle: page("The move would put a folder inside itself.", "Move it somewhere else."),
  folder_not_empty: page("The folder contains files or folders.", "Delete or move them first."),
  key_not_rollable: page(
    "A revoked or expired key cannot be rolled as it is.",
    "Set a new `expires_at` when you roll an expired key; replace a revoked key with a new one.",
  ),
  last_admin: page(
    "This would leave the organization without an administrator.",
    "Make someone else an administrator first.",
  ),
  last_owner: page("This would leave the space without an owner.", "Make someone else an owner first."),
  limit_reached: page(
    "The user, organization or webhook has reached its limit; the message has the number.",
    "Delete or revoke what you no longer need.",
  ),
  name_reserved: page("The name is reserved for private spaces.", "Choose another name."),
  private_space: page(
    "A private space belongs to one user: it cannot have other members or be deleted on its own.",
    "Use a shared space.",
  ),
  version_not_restorable: page(
    "The version is already published, was never published, or its text is no longer kept.",
    "Upload the file again, or reprocess the document.",
  ),
  webhook_not_active: page(
    "The webhook is paused or disabled, or its creator has lost the role it requires.",
    "Set its `status` to `active`. If its creator lost the role, restore the role first.",
  ),
  wrong_space: page("The folder belongs to another space.", "Name a folder of the same space."),
  context_length_exceeded: page(
    "The last turn alone is longer than the model's context.",
    "Send a shorter message, or use a model with a longer context for this agent.",
  ),
  storage_quota_exceeded: page(
    "The file would exceed the organization's storage quota.",
    "Delete documents (their bytes count until they are erased), or ask your administrator for a " +
      "larger quota.",
  ),

  // Who asks.
  unauthenticated: page(
    "The request has no valid credentials.",
    "Send `Authorization: Bearer` with an API key or an access token.",
  ),
  authentication_required: page(
    "The `Authorization` header is missing or is not of the form `Bearer …`.",
    "Send `Authorization: Bearer` and your API key.",
  ),
  invalid_api_key: page(
    "The key does not exist or cannot be used from your address. Every key starts with `sk-`.",
    "Copy the whole key again. It is shown only once, when it is created or rolled; create a new " +
      "one if it is lost.",
  ),
  key_expired: page(
    "The key's `expires_at` has passed, or it was rolled and the overlap has ended.",
    "Use the new key, or roll the key with a new `expires_at`.",
  ),
  key_revoked: page("The key was revoked.", "Create a new one. A revoked key never works again."),
  invalid_token: page(
    "The access token has expired, was not issued by the identity provider that this instance trusts, " +
      "or belongs to an unknown user.",
    "Get a new token. If it is rejected too, ask the operator for `OIDC_ISSUER` and `OIDC_AUDIENCE`.",
  ),
  login_required: page(
    "This endpoint accepts only users' access tokens, not API keys.",
    "Send an access token from the identity provider; [Keys](/keys) explains how to get one.",
  ),
  permission_denied: page(
    "You can access the resource, but your role does not allow this; the message names the permission.",
    "Ask a space owner or an organization administrator for the role.",
  ),
  key_out_of_scope: page("The key lacks the capability.", "Create a key that has it (`capabilities`)."),
  key_owner_left: page("The owner of this key has left the organization.", "Use a key of a current member."),
  not_an_operator: page(
    "The endpoint is for operators of the instance.",
    "Use a token whose `roles` claim contains `operators`.",
  ),
  organization_deleted: page("The organization was deleted.", "It can only be restored from a backup."),
  wrong_organization: page(
    "`X-Organization-Id` names an organization that your credentials do not belong to.",
    "Omit the header, or send your own organization's id.",
  ),

  // What the path or the body names.
  not_found: page(OUT_OF_REACH, "Check the id."),
  route_not_found: page(
    "No endpoint has this path.",
    "Check the address: the API is under `/v1`, and OpenAI clients need `/v1` in their base URL.",
  ),
  method_not_allowed: page(
    "The path exists but does not support this method.",
    "The `Allow` header lists the supported methods.",
  ),
  agent_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/agents/search`")),
  answer_not_found: page(
    "The stored answer to this repeated request is based on a document that you can no longer access.",
    "Ask again, with a new `Idempotency-Key`.",
  ),
  api_key_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/me/api-keys`")),
  batch_not_found: page(OUT_OF_REACH, "Check the id, which the batch's `202` response contains."),
  chunk_not_found: page(
    "No kept version of the document has this chunk. Reprocessing assigns new ids.",
    "`GET /v1/data/{document_id}/chunks` lists those of the published version.",
  ),
  delivery_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/webhooks/{webhook_id}/deliveries`")),
  document_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/data/search`")),
  event_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/events`")),
  file_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/spaces/{space_id}/data/files`")),
  folder_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/folders/space/{space_id}`")),
  model_not_found: page(
    "`model` is not the id of an agent that you can chat with. Models here are agents: use their " +
      "ids, not names.",
    SEE_THE_LIST("`GET /v1/models`"),
  ),
  organization_not_found: page(OUT_OF_REACH, "`GET /v1/me` shows which organization you belong to."),
  page_not_found: page(
    "The document has fewer pages, or none.",
    "`GET /v1/data/{document_id}/pages` lists them.",
  ),
  run_not_found: page(OUT_OF_REACH, "The `processing_state` of a document has the id of its run."),
  space_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`POST /v1/spaces/search`")),
  previous_response_not_found: page(
    "The previous response was deleted, is no longer kept, or belongs to another key.",
    "Send the conversation itself as `input`. Responses are kept for a time set by the operator, " +
      "and only with `store`.",
  ),
  response_not_found: page(
    "It was deleted, is no longer kept, was created without `store`, or belongs to another key.",
    "Read a response with the key that created it. If it is gone, ask again.",
  ),
  user_not_found: page(OUT_OF_REACH, "Check the id."),
  vector_store_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/vector_stores`")),
  version_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/data/{document_id}/versions`")),
  webhook_not_found: page(OUT_OF_REACH, SEE_THE_LIST("`GET /v1/webhooks`")),

  // The request and the state do not meet.
  request_timeout: page("The request did not arrive in time.", "Send it again without pauses."),
  conflict: page("Someone else changed it at the same time.", "Read it again, then retry."),
  turn_lost: page(
    "The process that was answering stopped before the answer was complete.",
    "Ask again with a new `Idempotency-Key`; the same one returns this error again.",
  ),
  cursor_expired: page(
    "The events after the cursor are no longer kept (`EVENT_RETENTION_DAYS`).",
    "Continue from `oldest`, and read the current state for anything that happened before it.",
  ),
  version_not_kept: page(
    "The file of this version is no longer kept: only those of the published version, the previous one " +
      "and the latest run are.",
    "Omit `version` to see the published one. A citation's quote and offsets still show what was cited.",
  ),
  precondition_failed: page(
    "The resource has changed since you read the `ETag` sent in `If-Match`.",
    "Read it again, reapply your change, and send the new `ETag`.",
  ),
  uri_too_long: page("The address is longer than 8,192 characters.", "Send long values in the body."),
  headers_too_large: page("The headers are larger than 32 KiB.", "Send fewer or shorter ones."),
  range_not_satisfiable: page(
    "The `Range` starts beyond the end of the file.",
    "The `Content-Range` header has the file's size.",
  ),

  // Too much at once.
  rate_limited: page(
    "The budget of requests or chat turns per minute is used up: that of the key, the user, the " +
      "organization or, without valid credentials, the address. `RateLimit-Policy` names it.",
    "Wait for `Retry-After` seconds. To wait for documents, use `?wait=`, events or `POST /v1/data/status` " +
      "instead of polling.",
  ),
  too_many_open: page(
    "The key, user, organization or process has too many streams, waits, files or pages open.",
    "Close one, or wait for `Retry-After` seconds.",
  ),
  response_quota_exceeded: page(
    "Stored responses of the user or organization have reached their quota.",
    "Delete responses, wait until some expire, or send `store: false` to store nothing.",
  ),
  token_budget_exceeded: page(
    "This month's token budget of the organization, user or key is used up.",
    "Wait until the month ends (`Retry-After`), or ask your administrator for a larger budget.",
  ),
  overloaded: page("This process is at capacity.", SEND_AGAIN),
  request_under_way: page(
    "Another request with the same `Idempotency-Key` is still in progress.",
    "Send it again after `Retry-After` to get the first one's answer.",
  ),
  shutting_down: page("This process is shutting down; others take over.", SEND_AGAIN),

  // A document whose processing ends without a new version.
  empty_file: page("The file is empty.", `Upload the right file. ${SEND_ANOTHER_FILE}`),
  unsupported_file_type: page(
    "This file type is not supported.",
    `Convert it, for example to PDF, .docx or text. ${SEND_ANOTHER_FILE}`,
  ),
  encrypted: page("The file is protected by a password.", `Upload it without one. ${SEND_ANOTHER_FILE}`),
  corrupt: page("The file is damaged.", `Open it in its application and save it again. ${SEND_ANOTHER_FILE}`),
  too_large: page(
    "The file or its unpacked content is too large to parse.",
    `Split it. ${SEND_ANOTHER_FILE}`,
  ),
  timeout: page(
    "Parsing the file took too long.",
    `Divide it, or save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  out_of_memory: page(
    "Parsing the file took too much memory.",
    `Divide it, or save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  too_complex: page(
    "The file has too many parts, or its parts are nested too deeply.",
    `Save it in a simpler format. ${SEND_ANOTHER_FILE}`,
  ),
  no_text: page(
    "The file contains no text. It may be a scan without text recognition.",
    `Run text recognition (OCR) on it, or upload another file. ${SEND_ANOTHER_FILE}`,
  ),
  rejected_by_provider: page(
    "The model provider rejected this content under its own rules.",
    "Change the content or use another model. Sending the same content again does not help.",
  ),
  worker_crashed: page(
    "Parsing the file crashed its process, even when the file was processed alone.",
    `Save the file again in its application, and tell the operator. ${SEND_ANOTHER_FILE}`,
  ),
  superseded: page("A newer run of the document replaced this one.", "Look at the newer run."),
  cancelled: page(
    "It was cancelled by a user, or because its document, space or organization was deleted.",
    "Start it again.",
  ),
  // A service that this one depends on is down, or this one is too slow.
  provider_rate_limited: page("The model provider is rate-limiting requests.", WORK_GOES_ON),
  provider_timeout: page("The model provider did not respond in time.", WORK_GOES_ON),
  provider_unavailable: page("The model provider cannot be reached or is failing.", WORK_GOES_ON),
  storage_unavailable: page(
    "The object store or the key management service cannot be reached.",
    WORK_GOES_ON,
  ),
  insufficient_storage: page("The disk is nearly full. Reads, search and chat still work.", WORK_GOES_ON),
  database_unavailable: page("The database cannot be reached.", WORK_GOES_ON),
  workflows_unavailable: page("Temporal cannot be reached.", WORK_GOES_ON),
  issuer_unavailable: page(
    "The identity provider cannot be reached, so access tokens cannot be checked. API keys work.",
    SEND_AGAIN,
  ),
  starved: page("This service does not have enough CPU time; nothing is down.", WORK_GOES_ON),
  internal: page(
    "An unexpected error occurred. This is a bug.",
    "Retry the request. If it fails again, send its `X-Request-Id` to the operator, who can find " +
      "the cause in the log.",
  ),
};
