# syntax=docker/dockerfile:1
FROM python:3.12-slim-bookworm AS build
ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never \
    UV_PROJECT_ENVIRONMENT=/app/.venv
RUN pip install --no-cache-dir "uv>=0.13,<1"
WORKDIR /app
COPY pyproject.toml uv.lock README.md LICENSE ./
RUN uv sync --frozen --no-dev --no-install-project --python /usr/local/bin/python3
COPY migrations ./migrations
COPY service ./service
RUN uv sync --frozen --no-dev --no-editable --python /usr/local/bin/python3 \
    && /app/.venv/bin/groundkeeper models verify

FROM python:3.12-slim-bookworm
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    ORT_DISABLE_TELEMETRY=1 \
    GROUNDKEEPER_DATA_DIR=/data \
    GROUNDKEEPER_KEY_DIR=/keys
RUN groupadd --system --gid 10001 groundkeeper \
    && useradd --system --uid 10001 --gid 10001 --no-create-home groundkeeper \
    && install -d -m 0700 -o groundkeeper -g groundkeeper /data /keys
COPY --from=build /app/.venv /app/.venv
WORKDIR /app
USER 10001:10001
VOLUME ["/data", "/keys"]
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["groundkeeper"]
CMD ["serve"]
