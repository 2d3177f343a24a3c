# The minor version is that of package.json; a test compares them. Rebuild to get the fixes of Debian.
FROM node:24.21-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image brings its own Node, so the one pinned for development is not fetched.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json tsconfig.build-cli.json ./
COPY scripts scripts
COPY src src
COPY packages packages
COPY client client
COPY cli cli
COPY console console
RUN node scripts/build.mjs && npm prune --omit=dev --ignore-scripts

FROM node:24.21-slim
# docker build --build-arg REVISION=$(git rev-parse HEAD) .
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Atrium" \
  org.opencontainers.image.description="A self-hosted platform API server: authorization, the signed-in user, the marketplace listener." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.9.0" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="docker.io/library/node:24.21-slim"
# Without the last two, glibc keeps some 40 MiB of freed memory.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY --from=build /app/console/plain.html console/plain.html
COPY --from=build /app/console/dist console/dist
COPY migrations migrations
COPY openapi/atrium.json openapi/atrium.yaml openapi/
RUN mkdir -m 700 /data && chown node:node /data && ln -s /app/bin/atrium.mjs /usr/local/bin/atrium
# A number, so that Kubernetes sees that it is not root. It is the user node. The root file system can be read-only:
# only /data is written to, and code that cannot be kept in the home folder is compiled at each start.
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 3001}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The server handles SIGTERM itself, as process 1 too: it drains and ends within SHUTDOWN_DELAY_MS plus 10 s.
# Docker waits only 10 s by default, so stop it with: docker stop --time 20
CMD ["node", "bin/atrium.mjs", "serve"]
