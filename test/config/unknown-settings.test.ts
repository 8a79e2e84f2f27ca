import { expect, test } from "vitest";
import { unknownSettings } from "../../src/config/config.ts";

test.each([
  ["RATE_LIMT_RPM", "RATE_LIMIT_RPM"],
  ["MAX_UPLAOD_BYTES", "MAX_UPLOAD_BYTES"],
  ["DATABASE_POOLSIZE", "DATABASE_POOL_SIZE"],
  ["OCR_LANGUAGE", "OCR_LANGUAGES"],
  ["CORS_ORIGIN", "CORS_ORIGINS"],
  ["MASTERKEY", "MASTER_KEY"],
])("%s is told with %s, which was meant, and without its value", (name, meant) => {
  expect(unknownSettings({ [name]: "topsecret" })).toEqual([
    `${name} is not a Holdfast setting and is ignored; did you mean ${meant}?`,
  ]);
});

test("a name with a prefix of Holdfast is reported, even if it resembles no setting", () => {
  expect(unknownSettings({ OIDC_CLIENT_SECRET: "x", HOLDFAST_PORT_NUMBER: "x" })).toEqual([
    "OIDC_CLIENT_SECRET is not a Holdfast setting and is ignored",
    "HOLDFAST_PORT_NUMBER is not a Holdfast setting and is ignored",
  ]);
});

test("settings, and variables that others set, are not reported", () => {
  const others = [
    "PATH",
    "HOME",
    "HOSTNAME",
    "HOST_IP",
    "POST",
    "LANG",
    "LOGNAME",
    "TEMPORAL_CLI_ADDRESS",
    "TEMPORAL_ENV",
    "AWS_REGION",
    "OTEL_SERVICE_NAME",
    "PGPASSWORD",
  ];
  const platform = [
    "npm_config_cache",
    "npm_lifecycle_event",
    "NODE_OPTIONS",
    "NODE_VERSION",
    "POSTGRES_PASSWORD",
    "DATABASE_APP_PASSWORD",
    "HOLDFAST_TEST_CACHE_DIR",
    "DEMO_API_KEY",
  ];
  const pods = [
    "HOLDFAST_API_SERVICE_HOST",
    "HOLDFAST_API_SERVICE_PORT_HTTP",
    "HOLDFAST_API_PORT",
    "HOLDFAST_API_PORT_8080_TCP_ADDR",
    "KUBERNETES_SERVICE_HOST",
  ];
  const ours = ["RATE_LIMIT_RPM", "WORKER_METRICS_PORT", "MASTER_KEY_PREVIOUS"];
  expect(
    unknownSettings(
      Object.fromEntries([...others, ...platform, ...pods, ...ours].map((name) => [name, "x"])),
    ),
  ).toEqual([]);
  expect(unknownSettings({ RATE_LIMT_RPM: " ", RATE_LIMT_RPS: undefined })).toEqual([]);
});
