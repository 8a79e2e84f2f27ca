/** Settings of what callers may send, store and ask. */
import { integer } from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

const rate = integer(1, 1_000_000);
const quota = integer(1, Number.MAX_SAFE_INTEGER);

const UNBOUNDED = "no limit";
const MONTHLY = "chat tokens in a calendar month (UTC):";

export const LIMITS = {
  MAX_UPLOAD_BYTES: quota
    .default(104_857_600)
    .register(ABOUT, { what: "the largest file that is taken", readBy: ["API"] }),
  DOCUMENTS_PER_ORGANIZATION: quota.optional().register(ABOUT, {
    what: "documents that an organization may store; an upload beyond it is answered 400",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  BYTES_PER_ORGANIZATION: quota.optional().register(ABOUT, {
    what: "bytes that an organization may store; an upload beyond it is answered 400",
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
    what: "requests a minute for each user, over all keys and sessions",
    unset: "`RATE_LIMIT_RPM`",
    readBy: ["API"],
  }),
  USER_CHAT_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "chat turns a minute for each user",
    unset: "`CHAT_RATE_LIMIT_RPM`",
    readBy: ["API"],
  }),
  ORGANIZATION_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "requests a minute for each organization",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  ORGANIZATION_CHAT_RATE_LIMIT_RPM: rate.optional().register(ABOUT, {
    what: "chat turns a minute for each organization",
    unset: UNBOUNDED,
    readBy: ["API"],
  }),
  REFUSAL_RATE_LIMIT_RPM: rate.default(1_200).register(ABOUT, {
    what: "requests a minute without valid credentials, reports of leaked keys among them, for each address",
    readBy: ["API"],
  }),
  MAX_KEYS_PER_USER: integer(1, 1_000_000)
    .default(50)
    .register(ABOUT, {
      what: "live API keys of a user; a user who has more keeps them",
      readBy: ["API"],
    }),
  MONTHLY_TOKENS_PER_ORGANIZATION: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} each organization`, unset: UNBOUNDED, readBy: ["API"] }),
  MONTHLY_TOKENS_PER_USER: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} each user`, unset: UNBOUNDED, readBy: ["API"] }),
  MONTHLY_TOKENS_PER_KEY: quota
    .optional()
    .register(ABOUT, { what: `${MONTHLY} each key`, unset: UNBOUNDED, readBy: ["API"] }),
  EVENT_RETENTION_DAYS: integer(4, 365)
    .default(30)
    .register(ABOUT, {
      what: "days that events and the records of their deliveries are kept",
      readBy: ["worker"],
    }),
} as const;
