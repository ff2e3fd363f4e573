# gpugraph with CUDA 13's libraries from Python packages: the host needs NVIDIA's driver and container toolkit alone.
#   docker build -t gpugraph .
#   docker run --rm --gpus all -v gpugraph-cache:/cache -v "$PWD":/work gpugraph mst rmat:20
# Without --gpus all the algorithms for the CPU run.  For another user, the cache and compiled kernels: docs/containers.md.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps -w /dist .

FROM python:3.12-slim-bookworm
ARG CUDA=cuda13
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++=4:12.2.0-3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 gpugraph \
    && install -d -o gpugraph -g gpugraph -m 700 /cache
COPY --from=build /dist /dist
RUN python -m pip install --no-cache-dir "$(ls /dist/*.whl)[${CUDA},report,tables]" && rm -r /dist
ENV GPUGRAPH_CACHE_DIR=/cache
VOLUME /cache
USER 1000
WORKDIR /work
ENTRYPOINT ["gpugraph"]
CMD ["--help"]
