# The program is static and holds all it needs, the zones of the world too, so
# the image has nothing else but the certificates of authorities.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -tags nomsgpack -ldflags "-s -w -X main.version=${VERSION}" -o /image/ax . \
 && mkdir -p /image/tmp /image/etc/ssl/certs && mkdir -m 700 /image/data \
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
COPY --from=build --chown=65532:65532 /image/ /
USER 65532:65532
# A config.yaml mounted at / is read; the environment wins over it.
WORKDIR /
ENV AX_HTTP_ADDR=0.0.0.0:8080 AX_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/ax"]
CMD ["serve"]
