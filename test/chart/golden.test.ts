/**
 * Tests the rendered chart by the manifests in golden/, which `npm run check:chart` compares with the
 * templates; so it needs no Helm.
 */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { QUEUE_NAMES } from "../../src/config/setting-forms.ts";
import { type Manifest, createValidator, readManifests } from "./objects.ts";
import { NOT_IN_ENV, environmentProperties, readEnvironmentProperties } from "./settings.ts";

const GOLDEN = join(import.meta.dirname, "golden");
const names = (await readdir(GOLDEN)).map((name) => name.replace(/\.yaml$/, ""));
const rendered = Object.fromEntries(
  await Promise.all(
    names.map(
      async (name) => [name, readManifests(await readFile(join(GOLDEN, `${name}.yaml`), "utf8"))] as const,
    ),
  ),
);
const validate = await createValidator();

const find = (of: string, kind: string, name: string): Manifest => {
  const found = rendered[of]!.find(
    (manifest) => manifest["kind"] === kind && manifest["metadata"].name === name,
  );
  if (found === undefined) throw new Error(`${of}: no ${kind} ${name}`);
  return found;
};
const podsOf = (of: string): Manifest[] =>
  rendered[of]!.filter(({ kind }) => ["Deployment", "Job"].includes(kind));
const container = (manifest: Manifest): Manifest => manifest["spec"].template.spec.containers[0];
const variables = (manifest: Manifest): Record<string, any> =>
  Object.fromEntries(
    (container(manifest)["env"] ?? []).map((one: Manifest) => [
      one["name"],
      one["value"] ?? one["valueFrom"],
    ]),
  );

test("the values' schema has exactly the settings of the service that are no secrets", async () => {
  expect(await readEnvironmentProperties()).toEqual(environmentProperties());
  expect(Object.keys(NOT_IN_ENV).filter((name) => name in environmentProperties())).toEqual([]);
});

describe.each(names)("%s", (name) => {
  test("each object has the fields of its kind and no others", () => {
    expect(rendered[name]!.flatMap(validate)).toEqual([]);
  });

  test("every pod is narrow, of the named image, and bounded", () => {
    expect(podsOf(name).length).toBeGreaterThan(2);
    for (const manifest of podsOf(name)) {
      const { spec } = manifest["spec"].template;
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000 },
      });
      expect(spec.serviceAccountName).toEqual(expect.any(String));
      const one = container(manifest);
      expect(one["securityContext"]).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(one["imagePullPolicy"]).toMatch(/^(Always|IfNotPresent)$/);
      expect(one["resources"]).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    }
  });

  test("every process is asked by all three probes whether it is up", () => {
    const processes = podsOf(name).filter(({ kind }) => kind === "Deployment");
    expect(processes.length).toBeGreaterThan(1);
    for (const manifest of processes)
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
        expect(container(manifest)[probe]?.httpGet?.path).toMatch(/^\/health/);
  });

  test("the processes take its settings", () => {
    const { data } = find(name, "ConfigMap", "holdfast");
    for (const manifest of podsOf(name)) {
      const own = Object.fromEntries(
        Object.entries(variables(manifest)).filter(([, value]) => typeof value === "string"),
      );
      const files = Object.fromEntries(
        Object.keys({ ...data, ...own }).flatMap((one) =>
          one.endsWith("_FILE") ? [[one, import.meta.filename]] : [],
        ),
      );
      expect(() => loadConfig({ ...data, ...own, ...files })).not.toThrow();
    }
  });
});

test("numbers, zeros and false arrive as given; null and the empty text do not arrive", () => {
  const { data } = find("numbers", "ConfigMap", "holdfast");
  const { limits, telemetry, temporal, api } = loadConfig(data);
  expect([limits.maxUploadBytes, limits.bytesPerOrganization, limits.requestsPerMinute]).toEqual([
    104_857_600,
    Number.MAX_SAFE_INTEGER,
    1_000_000,
  ]);
  expect([telemetry.sampleRatio, temporal.tls, api.trustedProxies]).toEqual([0, undefined, 0]);
  expect(data).not.toHaveProperty("OCR_LANGUAGES");
  expect(data).not.toHaveProperty("CHAT_MODEL");
  expect(find("ratio", "ConfigMap", "holdfast")["data"].TRACE_SAMPLE_RATIO).toBe("0.05");
  expect(variables(find("numbers", "Deployment", "holdfast-api"))["DRAIN_DELAY_SECONDS"]).toBe("0");
  expect([
    find("numbers", "Deployment", "holdfast-worker")["spec"].replicas,
    find("numbers", "PodDisruptionBudget", "holdfast-api")["spec"].minAvailable,
  ]).toEqual([0, 0]);
});

test("each pod gets the database logins of its part and no other", () => {
  const logins = (of: string, kind: string, name: string): string[] =>
    Object.keys(variables(find(of, kind, name))).filter(
      (one) => one.endsWith("_URL") && one.startsWith("DATABASE_"),
    );
  const [app, system, maintenance, owner] = [
    "DATABASE_URL",
    "DATABASE_SYSTEM_URL",
    "DATABASE_MAINTENANCE_URL",
    "DATABASE_OWNER_URL",
  ];
  expect(logins("everything", "Deployment", "holdfast-api")).toEqual([app, system]);
  expect(logins("everything", "Deployment", "holdfast-worker")).toEqual([app, system, maintenance]);
  expect(logins("everything", "Job", "holdfast-provision")).toEqual([app, system, maintenance]);
  expect(logins("everything", "Job", "holdfast-migrate")).toEqual([app, system, maintenance, owner]);
  expect(logins("groups", "Deployment", "holdfast-worker-parse")).toEqual([app, system]);
  expect(logins("groups", "Deployment", "holdfast-worker-index")).toEqual([app, system, maintenance]);
});

test("each queue has a worker group that scales by it, and no selector finds another group's pods", () => {
  const groups = rendered["groups"]!.filter(
    ({ kind, metadata }) => kind === "Deployment" && metadata.name.startsWith("holdfast-worker"),
  );
  const served: string[] = groups.flatMap((one) => variables(one)["WORKER_QUEUES"].split(","));
  expect(new Set(served)).toEqual(new Set(QUEUE_NAMES));
  expect(new Set(groups.map(({ spec }) => JSON.stringify(spec.selector.matchLabels))).size).toBe(3);
  for (const { spec } of groups) expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
  const queues = (name: string): string[] =>
    find("groups", "ScaledObject", name)["spec"].triggers.flatMap(
      (one: Manifest) => one["metadata"].taskQueue ?? [],
    );
  expect(queues("holdfast-worker-parse")).toEqual(["parse"]);
  expect(queues("holdfast-worker-flow")).toEqual(["pipeline", "chat", "tools", "webhooks"]);
  expect(find("groups", "Deployment", "holdfast-worker-index")["spec"].replicas).toBe(3);
  expect(
    rendered["groups"]!.some(
      ({ kind, metadata }) => kind === "ScaledObject" && metadata.name === "holdfast-worker-index",
    ),
  ).toBe(false);
});

test("a group's name stays text in labels, also one that YAML takes for a number or for true", async () => {
  const labels = (await readFile(join(GOLDEN, "groups.yaml"), "utf8"))
    .split("\n")
    .filter((line) => line.includes("holdfast/group:"));
  expect(labels.length).toBeGreaterThan(0);
  expect(labels.filter((line) => !/: "[^"]+"$/.test(line))).toEqual([]);
});

test("KEDA asks Temporal with the API key or the certificate of a Secret", () => {
  const parameters = (of: string): string[] =>
    find(of, "TriggerAuthentication", "holdfast-temporal")["spec"].secretTargetRef.map(
      (one: Manifest) => one["parameter"],
    );
  expect(parameters("groups")).toEqual(["apiKey"]);
  expect(parameters("keda-mtls")).toEqual(["ca", "cert", "key"]);
  const triggers = find("keda-mtls", "ScaledObject", "holdfast-worker")["spec"].triggers.filter(
    ({ type }: { type: string }) => type === "temporal",
  );
  expect(triggers.length).toBeGreaterThan(0);
  for (const { authenticationRef } of triggers)
    expect(authenticationRef).toEqual({ name: "holdfast-temporal" });
});

test("pods connect to the named destinations and to nothing else", () => {
  const egress = (of: string, component: string): Manifest =>
    find(of, "NetworkPolicy", `holdfast-${component}`)["spec"];
  const ports = (of: string, component: string): number[] =>
    egress(of, component)
      ["egress"].flatMap((rule: Manifest) => rule["ports"].map((one: Manifest) => one["port"]))
      .toSorted();
  for (const component of ["api", "worker", "migrate"])
    expect(egress("minimal", component)["policyTypes"]).toEqual(["Ingress", "Egress"]);
  expect(ports("minimal", "migrate")).toEqual([53, 53, 5432]);
  expect(ports("minimal", "api")).toEqual([443, 53, 53, 5432, 7233, 80, 8080, 988]);
  expect(ports("everything", "worker")).toEqual([443, 53, 53, 5432, 7233, 8000]);
  expect(ports("everything", "provision")).toEqual([443, 53, 53, 5432]);
  const postgres = egress("everything", "api")["egress"].find(
    (rule: Manifest) => rule["ports"][0].port === 5432,
  );
  expect(postgres.to).toEqual([{ ipBlock: { cidr: "10.20.0.5/32" } }]);
  // HTTPS must not reach private addresses.
  const https = egress("minimal", "api")["egress"].find((rule: Manifest) => rule["ports"][0].port === 443);
  expect(https.to[0].ipBlock.except).toEqual(
    expect.arrayContaining(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"]),
  );
  for (const name of names.filter((one) => one !== "ratio"))
    for (const manifest of podsOf(name)) {
      const labels = manifest["spec"].template.metadata.labels;
      const policies = rendered[name]!.filter(
        ({ kind, spec }) =>
          kind === "NetworkPolicy" &&
          Object.entries(spec.podSelector.matchLabels).every(([label, value]) => labels[label] === value),
      );
      expect([manifest["metadata"].name, policies.length]).toEqual([manifest["metadata"].name, 1]);
    }
  expect(rendered["ratio"]!.filter(({ kind }) => kind === "NetworkPolicy")).toEqual([]);
});

test("metrics are scraped once: by annotations, or by the operator's monitor", () => {
  const annotations = (of: string): Manifest =>
    find(of, "Deployment", "holdfast-worker")["spec"].template.metadata.annotations;
  expect(annotations("numbers")).toMatchObject({
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "9464",
  });
  expect(annotations("everything")).not.toHaveProperty("prometheus.io/scrape");
  expect(annotations("everything")).toMatchObject({ team: "documents", b: "worker-pod" });
  const monitor = find("everything", "ServiceMonitor", "holdfast");
  expect(find("everything", "Service", "holdfast-metrics")["metadata"].labels).toMatchObject(
    monitor["spec"].selector.matchLabels,
  );
});

test("files of TLS and variables of the values reach every pod", () => {
  for (const manifest of podsOf("everything")) {
    expect(container(manifest)["volumeMounts"]).toContainEqual({
      name: "tls",
      mountPath: "/tls",
      readOnly: true,
    });
    expect(manifest["spec"].template.spec.volumes).toContainEqual({
      name: "tls",
      secret: { secretName: "temporal-tls" },
    });
    expect(variables(manifest)).toHaveProperty("OTEL_EXPORTER_OTLP_HEADERS");
    expect(container(manifest)["envFrom"]).toContainEqual({ secretRef: { name: "providers" } });
  }
  const provision = find("everything", "Job", "holdfast-provision");
  expect(container(provision)["command"]).toEqual([
    "node",
    "src/cli/main.ts",
    "provision",
    "/provision/tenants.yaml",
  ]);
  expect(container(provision)["envFrom"]).toContainEqual({ secretRef: { name: "tenant-keys" } });
});
