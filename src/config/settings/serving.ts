/** Settings of the processes, and of what they say about themselves. */
import { z } from "zod";
import { QUEUE_NAMES, integer, originList, queueList, ratio, url } from "../setting-forms.ts";
import { ABOUT } from "./about.ts";

export const PROCESSES = {
  NODE_ENV: z
    .enum(["production", "development", "test"], "must be production, development or test")
    .default("development")
    .register(ABOUT, { what: "`production` makes no demo and runs no issuer for development" }),
  DATA_DIR: z
    .string()
    .default(".data")
    .register(ABOUT, { what: "the folder of objects, secrets, logs and embedded servers" }),
  HOLDFAST_CACHE: z
    .string()
    .optional()
    .register(ABOUT, {
      what: "the folder of fetched wheels and of tesseract's data",
      unset: "a cache folder of the user; tesseract's data in `DATA_DIR`",
      readBy: ["npm start", "worker", "holdfast"],
    }),
  PROVISION_FILE: z
    .string()
    .optional()
    .register(ABOUT, {
      what: "a YAML file of tenants, applied at each `npm start`",
      unset: "the demo, once",
      readBy: ["npm start"],
    }),
  WORKER_QUEUES: queueList.default(QUEUE_NAMES).register(ABOUT, {
    what: "the queues that a worker serves; some worker must serve each",
    readBy: ["worker"],
  }),
  OCR_LANGUAGES: z
    .string()
    .regex(/^[a-z_]{3,20}(?:\+[a-z_]{3,20})*$/i, "must be tesseract's codes, joined by +")
    .default("eng")
    .describe("tesseract's codes, joined by `+`")
    .register(ABOUT, {
      what: "languages of scanned pages; each needs the npm package `@tesseract.js-data/<code>`",
      readBy: ["worker", "holdfast"],
    }),
} as const;

export const API = {
  PORT: integer(0, 65_535)
    .default(8080)
    .register(ABOUT, { what: "the port of the API", readBy: ["API", "npm start"] }),
  HOST: z
    .string()
    .default("127.0.0.1")
    .register(ABOUT, {
      what: "the address that the API, health and metrics listen on",
      readBy: ["API", "worker", "npm start"],
    }),
  PUBLIC_URL: url("https", "http")
    .optional()
    .register(ABOUT, {
      what: "the address under which callers reach the API",
      unset: "`HOST` and `PORT`",
      readBy: ["npm start", "holdfast"],
    }),
  DRAIN_DELAY_SECONDS: integer(0, 10)
    .default(0)
    .register(ABOUT, {
      what: "how long an API process that is stopping, and says so, still takes requests",
      readBy: ["API"],
    }),
  TRUSTED_PROXIES: integer(0, 10)
    .default(0)
    .register(ABOUT, {
      what: "proxies in front of the API; a caller's address is what the outermost put into `X-Forwarded-For`",
      readBy: ["API"],
    }),
  EVENT_STREAMS_PER_PROCESS: integer(1, 100_000)
    .default(2_000)
    .register(ABOUT, {
      what: "streams of events, and requests that wait for events, that an API process holds at once",
      readBy: ["API"],
    }),
  CORS_ORIGINS: originList.default([]).register(ABOUT, {
    what: "origins whose pages may call the API",
    readBy: ["API"],
  }),
} as const;

const OF_METRICS = "serves Prometheus metrics at `/metrics` on this port of `HOST`";

export const OBSERVATION = {
  LOG_LEVEL: z
    .enum(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "must be trace, debug, info, warn, error, fatal or silent",
    )
    .default("info")
    .register(ABOUT, { what: "this level and those after it are logged" }),
  HEALTH_PORT: integer(1, 65_535)
    .optional()
    .register(ABOUT, {
      what:
        "a worker answers `/health` and `/health/ready` on this port of `HOST` " +
        "([deploy.md](deploy.md#the-image))",
      readBy: ["worker"],
    }),
  METRICS_PORT: integer(1, 65_535)
    .optional()
    .register(ABOUT, {
      what: `each process ${OF_METRICS}; two processes on one machine need two`,
      readBy: ["API", "worker", "npm start"],
    }),
  WORKER_METRICS_PORT: integer(1, 65_535)
    .optional()
    .register(ABOUT, {
      what: "the same for the worker of `npm start`",
      unset: "`METRICS_PORT` + 1",
      readBy: ["npm start"],
    }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("https", "http")
    .optional()
    .register(ABOUT, {
      what: "a collector of traces over OTLP/HTTP, as `http://collector:4318`",
      readBy: ["API", "worker"],
    }),
  TRACE_SAMPLE_RATIO: ratio.default(1).register(ABOUT, {
    what: "the share of requests that begin a trace if their caller began none",
    readBy: ["API", "worker"],
  }),
} as const;
