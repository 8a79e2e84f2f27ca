# One image for both processes, `node src/api/main.ts` (the default) and `node src/worker/main.ts`, and for
# every `node src/cli/main.ts …`.
ARG NODE=24.21.0-bookworm-slim

# What builds the guide and the console are dependencies of the workspaces `docs` and `console` alone, which the
# image itself does without.
FROM node:${NODE} AS sites
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript clients/typescript
COPY docs docs
COPY console console
COPY tsconfig.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY scripts scripts
COPY src src
RUN node scripts/guide/main.ts --image && node scripts/console/main.ts --image

FROM node:${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: every native package ships its binary.
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund
COPY src src
RUN node src/worker/bundle-main.ts --image
# Removes binaries for other systems, the Node that npm scripts run on, and what only the bundle needed.
RUN case "$(uname -m)" in x86_64) ort=x64 temporal=x86_64-unknown-linux-gnu ;; *) ort=arm64 temporal=aarch64-unknown-linux-gnu ;; esac \
 && find node_modules/onnxruntime-node/bin/napi-v*/* -maxdepth 1 -mindepth 1 -not -path "*/linux/$ort" -exec rm -rf {} + \
 && find node_modules/@temporalio/core-bridge/releases -maxdepth 1 -mindepth 1 -not -name "$temporal" -exec rm -rf {} + \
 && rm -rf node_modules/node-linux-* node_modules/.bin node_modules/@swc/core-* node_modules/.cache

FROM node:${NODE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
# Memory is given back (src/embedded/processes/child-environment.ts).
ENV MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072 NODE_OPTIONS=--max-semi-space-size=16
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/build build
COPY --from=sites /app/build build
COPY package.json LICENSE ./
COPY models models
COPY src src
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
CMD ["node", "src/api/main.ts"]
