/** Values that the chart must refuse, each with a part of Helm's message. */

interface Refused {
  readonly values: object;
  readonly says: string;
}

const env = { GCS_BUCKET: "b" };
const source = { secret: "s", key: "k" };
const group = (...queues: string[]): object => ({ queues });

export const REFUSED: Record<string, Refused> = {
  "objects without a place": { values: {}, says: "objects must outlive their pod" },
  "a misspelt setting": { values: { env: { ...env, RATE_LIMT_RPM: 5 } }, says: "RATE_LIMT_RPM" },
  "a secret among the settings": { values: { env: { ...env, MASTER_KEY: "k" } }, says: "MASTER_KEY" },
  "a misspelt value": { values: { env, replicaCount: 3 }, says: "replicaCount" },
  "a misspelt value below": { values: { env, api: { replica: 3 } }, says: "replica" },
  "a list as a setting": { values: { env: { ...env, CORS_ORIGINS: ["a"] } }, says: "env.CORS_ORIGINS" },
  "no group for suspected documents": {
    values: {
      env,
      worker: {
        groups: { parse: group("parse"), rest: group("pipeline", "embed", "tools", "webhooks", "chat") },
      },
    },
    says: "no group has the queue isolated",
  },
  "a group of an unknown queue": {
    values: { env, worker: { groups: { parse: group("parsing") } } },
    says: "worker.groups.parse.queues",
  },
  "a group without queues": {
    values: { env, worker: { groups: { parse: { replicas: 2 } } } },
    says: "queues is required",
  },
  "a certificate without its key": {
    values: { env, kedaAuthentication: { cert: source } },
    says: "kedaAuthentication",
  },
  "an API key and a certificate": {
    values: { env, kedaAuthentication: { apiKey: source, cert: source, key: source } },
    says: "kedaAuthentication",
  },
  "an ingress without a host": {
    values: { env, ingress: { enabled: true } },
    says: "ingress.host is needed",
  },
  "a destination without ports": {
    values: { env, networkPolicy: { egress: { provider: { components: ["api"] } } } },
    says: "networkPolicy.egress.provider.ports is needed",
  },
  "a destination of an unknown component": {
    values: { env, networkPolicy: { egress: { provider: { components: ["apis"], ports: [{ port: 1 }] } } } },
    says: "networkPolicy.egress.provider.components",
  },
  "a drain delay beyond its bound": {
    values: { env, api: { drainDelaySeconds: 11 } },
    says: "drainDelaySeconds",
  },
};
