/** Settings of what callers may send, store and ask. */
import { integer } from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

const rate = integer(1, 1_000_000);
const quota = integer(1, Number.MAX_SAFE_INTEGER);

const UNBOUNDED = "no limit";
const MONTHLY = "chat tokens in a calendar month (UTC), then 429:";

export const LIMITS = {
  MAX_UPLOAD_BYTES: quota
    .default(104_857_600)
    .register(ABOUT, { what: "the largest file that is taken", readBy: ["API"] }),
  DOCUMENTS_PER_ORGANIZATION: quota.optional().register(ABOUT, {
    what: "how many documents an organization may store; the upload that would exceed it is answered 400",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  BYTES_PER_ORGANIZATION: quota.optional().register(ABOUT, {
    what: "how many bytes an organization may store; the upload that would exceed it is answered 400",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  RATE_LIMIT_RPM: rate
    .default(600)
    .register(ABOUT, { what: "requests a minute for each key", readBy: ["API"] }),
  CHAT_RATE_LIMIT_RPM: rate
    .default(60)
    .register(ABOUT, { what: "chat turns a minute for each key", readBy: ["API"] }),
  USER_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "requests a minute for each user, all keys and sessions together",
    unset: "`RATE_LIMIT_RPM`",
    readBy: ["API"],
  }),
  USER_CHAT_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "chat turns a minute for each user, all keys and sessions together",
    unset: "`CHAT_RATE_LIMIT_RPM`",
    readBy: ["API"],
  }),
  ORGANIZATION_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what:
      "requests a minute for each organization, all members together. Whichever budget is used up answers " +
      "429 and names itself in `RateLimit-Policy`",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  ORGANIZATION_CHAT_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "chat turns a minute for each organization, all members together",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  REFUSAL_RATE_LIMIT_RPM: rate.default(1_200).register(ABOUT, {
    what:
      "requests a minute for each address that have no valid credentials, reports of leaked keys among " +
      "them",
    readBy: ["API"],
  }),
  MAX_KEYS_PER_USER: integer(1, 1_000_000)
    .default(50)
    .register(ABOUT, {
      what: "API keys of a user that are neither revoked nor expired; a user who has more keeps them",
      readBy: ["API"],
    }),
  MONTHLY_TOKENS_PER_ORGANIZATION: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} all members together`, unset: UNBOUNDED, readBy: ["API"] }),
  MONTHLY_TOKENS_PER_USER: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} each user`, unset: UNBOUNDED, readBy: ["API"] }),
  MONTHLY_TOKENS_PER_KEY: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} each key`, unset: UNBOUNDED, readBy: ["API"] }),
  EVENT_RETENTION_DAYS: integer(4, 365)
    .default(30)
    .register(ABOUT, {
      what:
        "for how many days events and the records of their deliveries are kept; a delivery is attempted for " +
        "three",
      readBy: ["worker"],
    }),
} as const;
