/** Settings of the processes, of the API that they serve, and of what its callers may do. */
import { z } from "zod";
import { QUEUE_NAMES, integer, originList, queueList, ratio, url } from "../setting-forms.ts";

export const PROCESSES = {
  NODE_ENV: z
    .enum(["production", "development", "test"], "must be production, development or test")
    .default("development"),
  DATA_DIR: z.string().default(".data"),
  HOLDFAST_CACHE: z.string().optional(),
  PROVISION_FILE: z.string().optional(),
  WORKER_QUEUES: queueList.default(QUEUE_NAMES),
  OCR_LANGUAGES: z
    .string()
    .regex(/^[a-z_]{3,20}(?:\+[a-z_]{3,20})*$/i, "must be tesseract's codes, joined by +")
    .default("eng"),
} as const;

export const API = {
  PORT: integer(0, 65_535).default(8080),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: url("https", "http").optional(),
  DRAIN_DELAY_SECONDS: integer(0, 10).default(0),
  TRUSTED_PROXIES: integer(0, 10).default(0),
  CORS_ORIGINS: originList.default([]),
} as const;

const rate = integer(1, 1_000_000);
const quota = integer(1, Number.MAX_SAFE_INTEGER);

export const LIMITS = {
  MAX_UPLOAD_BYTES: quota.default(104_857_600),
  DOCUMENTS_PER_ORGANIZATION: quota.optional(),
  BYTES_PER_ORGANIZATION: quota.optional(),
  RATE_LIMIT_RPM: rate.default(600),
  CHAT_RATE_LIMIT_RPM: rate.default(60),
  USER_RATE_LIMIT_RPM: rate.optional(),
  USER_CHAT_RATE_LIMIT_RPM: rate.optional(),
  ORGANIZATION_RATE_LIMIT_RPM: rate.optional(),
  ORGANIZATION_CHAT_RATE_LIMIT_RPM: rate.optional(),
  REFUSAL_RATE_LIMIT_RPM: rate.default(1_200),
  MAX_KEYS_PER_USER: rate.default(50),
  MONTHLY_TOKENS_PER_ORGANIZATION: quota.optional(),
  MONTHLY_TOKENS_PER_USER: quota.optional(),
  MONTHLY_TOKENS_PER_KEY: quota.optional(),
} as const;

export const OBSERVATION = {
  LOG_LEVEL: z
    .enum(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "must be trace, debug, info, warn, error, fatal or silent",
    )
    .default("info"),
  HEALTH_PORT: integer(1, 65_535).optional(),
  METRICS_PORT: integer(1, 65_535).optional(),
  WORKER_METRICS_PORT: integer(1, 65_535).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("https", "http").optional(),
  TRACE_SAMPLE_RATIO: ratio.default(1),
} as const;
