/** Connects to a bucket with AWS's client for S3, and classes its failures. */
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { DomainError } from "../../domain/errors.ts";
import { storageError, unavailable, within } from "../object-store.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Milliseconds for an operation with its retries and its connection; then the store counts as down. */
const OPERATION_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 4;
const MAX_CONNECTIONS = 256;
/** Stores other than AWS take any region; this is the usual name for theirs. */
const USUAL_REGION = "us-east-1";
const MAX_RETRY_AFTER_SECONDS = 15 * 60;

export interface S3Settings {
  readonly bucket: string;
  /** Origin of a store other than AWS's. */
  readonly endpoint?: string | undefined;
  /** If absent: what AWS's client finds, or `us-east-1` with an endpoint. */
  readonly region?: string | undefined;
  /** Puts the bucket into the path instead of the host's name; false by default. */
  readonly forcePathStyle?: boolean | undefined;
  /** Milliseconds without a byte after which a download goes on over a new connection. Default 30,000. */
  readonly stallMs?: number | undefined;
  /** Milliseconds after which a request without an answer is sent again; 30,000 by default. */
  readonly requestTimeoutMs?: number | undefined;
}

/** Sends one command. @throws what {@link ObjectStore} says, or the signal's reason. */
export type Send = <T>(
  command: (client: S3Client, abortSignal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

interface Connection {
  readonly send: Send;
  /** Sends without retries, for downloads: `resumed-download.ts` retries these. */
  readonly sendOnce: Send;
}

/** Credentials are found as by AWS's clients: the environment, files, the machine's or pod's role. */
export function connect(settings: S3Settings): Connection {
  return { send: senderOf(settings, MAX_ATTEMPTS), sendOnce: senderOf(settings, 1) };
}

function senderOf(
  { endpoint, region, forcePathStyle = false, requestTimeoutMs = REQUEST_TIMEOUT_MS }: S3Settings,
  maxAttempts: number,
): Send {
  const config: S3ClientConfig = {
    ...(endpoint === undefined ? {} : { endpoint, region: USUAL_REGION }),
    ...(region === undefined ? {} : { region }),
    forcePathStyle,
    maxAttempts,
    // Uploads have their own checksum, and `storage.ts` authenticates what is read.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      // A reader may pause for as long as it likes; `resumed-download.ts` notices a store that fell silent.
      socketTimeout: 0,
      httpAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
    },
  };
  const client = new S3Client(config);
  return (command, signal) => send(client, command, signal);
}

async function send<T>(
  client: S3Client,
  command: (client: S3Client, abortSignal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const late = new AbortController();
  const abortSignal = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
  const answer = command(client, abortSignal).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw s3Error(error);
  });
  try {
    return await within(OPERATION_TIMEOUT_MS, answer);
  } catch (error) {
    late.abort();
    // After the time limit nobody waits for the answer any more.
    answer.catch(() => {});
    throw error;
  }
}

/** What the store answered, without the parts of requests that AWS's errors contain. */
export class S3Answer extends Error {
  readonly status: number;
  /** S3's code, such as `NoSuchKey`; without a body the name that AWS's client gives the status. */
  readonly reason: string;
  /** The region of the bucket, if the request went to another one. */
  readonly bucketRegion: string | undefined;

  constructor(status: number, reason: string, bucketRegion?: string) {
    super(`The store answered ${status} ${reason}.`);
    this.name = "S3Answer";
    this.status = status;
    this.reason = reason;
    this.bucketRegion = bucketRegion;
  }
}

/** Damage in transit, a full quota, a race with another write: a retry may help. */
const OUTAGE_REASONS = new Set([
  "BadDigest",
  "InvalidDigest",
  "XAmzContentSHA256Mismatch",
  "XAmzContentChecksumMismatch",
  "IncompleteBody",
  "RequestTimeout",
  "RequestTimeTooSkewed",
  "ExpiredToken",
  "TokenRefreshRequired",
  "SlowDown",
  "QuotaExceeded",
  "XMinioAdminBucketQuotaExceeded",
  "XMinioStorageFull",
  "NoSuchBucket",
  "NoSuchUpload",
  "ConditionalRequestConflict",
  "OperationAborted",
  "PermanentRedirect",
  "AuthorizationHeaderMalformed",
]);

/** Errors of AWS's client that come before any answer. */
const CLIENT_OUTAGES = new Set([
  "TimeoutError",
  "AbortError",
  "CredentialsProviderError",
  "TokenProviderError",
  "ProviderError",
]);

interface AwsError {
  readonly name: string;
  readonly message: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Record<string, string> };
}

/** An error of AWS's client as a {@link DomainError}; any other error as it is. */
function s3Error(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { name, $metadata, $response } = error as AwsError;
  const status = $metadata?.httpStatusCode;
  const headers = $response?.headers ?? {};
  if (status === undefined || status < 300)
    return CLIENT_OUTAGES.has(name) ? unavailable(error) : storageError(error);
  const answer = new S3Answer(status, name, headers["x-amz-bucket-region"]);
  if (OUTAGE_REASONS.has(name) || status < 400) return unavailable(answer);
  return withRetryAfter(storageError(answer), headers["retry-after"]);
}

function withRetryAfter(error: unknown, header: string | undefined): unknown {
  const seconds = Number(header);
  if (
    !(error instanceof DomainError) ||
    error.code !== "storage_unavailable" ||
    !Number.isInteger(seconds) ||
    seconds <= 0
  )
    return error;
  return new DomainError(error.code, error.message, {
    retryAfterSeconds: Math.min(seconds, MAX_RETRY_AFTER_SECONDS),
    cause: error.cause,
  });
}

/** The store's answer that caused a failure; undefined if there was none. */
export function answerOf(error: unknown): S3Answer | undefined {
  const cause = error instanceof DomainError ? error.cause : error;
  return cause instanceof S3Answer ? cause : undefined;
}
