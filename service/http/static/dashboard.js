"use strict";
const at = (id) => document.getElementById(id);
const MOOD = { STORE: "good", REJECT: "bad", REVIEW: "unsure" };
let cursor = null;

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (at("key").value) headers["X-API-Key"] = at("key").value;
  const response = await fetch(path, { ...options, headers });
  return { status: response.status, body: await response.json() };
}

function badge(node, text, mood) {
  node.textContent = text;
  node.className = `badge ${mood}`;
}

async function showReady() {
  const { body } = await call("/ready");
  badge(at("ready"), body.ready ? "ready" : "not ready", body.ready ? "good" : "bad");
  const faults = (body.components || []).filter((c) => !c.ok).map((c) => `${c.name}: ${c.detail}`);
  at("ready-detail").textContent = [...faults, ...(body.warnings || [])].join(" · ");
  if (!body.ready) setTimeout(showReady, 2000);
}

async function showChain() {
  const { status, body } = await call("/audit/verify");
  if (status !== 200) {
    badge(at("chain"), "log not read", "unsure");
    at("chain-detail").textContent = body.detail || "";
    return;
  }
  badge(at("chain"), body.ok ? "log intact" : `log: ${body.reason}`, body.ok ? "good" : "bad");
  at("chain-detail").textContent =
    `${body.verified} of ${body.total} entries verified; not excluded: ${body.not_excluded.join(", ") || "nothing"}`;
}

function row(entry) {
  const decision = entry.decision || {};
  const cells = [
    entry.seq,
    entry.ts ? new Date(entry.ts).toLocaleString() : "damaged",
    entry.action,
    decision.verdict,
    decision.reason_code,
    entry.texts.fact ? entry.texts.fact.text : "",
  ];
  const line = document.createElement("tr");
  for (const value of cells) {
    const cell = document.createElement("td");
    cell.textContent = value ?? "";
    line.append(cell);
  }
  if (decision.verdict) line.children[3].className = MOOD[decision.verdict] || "";
  return line;
}

async function showDecisions(next) {
  const query = new URLSearchParams({ limit: "20" });
  if (next) query.set("cursor", next);
  const { status, body } = await call(`/audit?${query}`);
  if (!next) at("rows").replaceChildren();
  if (status !== 200) {
    at("total").textContent = body.detail || "";
    return;
  }
  at("rows").append(...body.items.map(row));
  cursor = body.next_cursor;
  at("more").hidden = !cursor;
  at("total").textContent = `${body.total} entries`;
}

function showAnswer(status, body) {
  at("result").hidden = false;
  const failed = status !== 200;
  badge(at("verdict"), failed ? body.title : body.verdict, failed ? "bad" : MOOD[body.verdict]);
  at("code").textContent = failed ? String(status) : body.reason_code;
  at("reason").textContent = failed ? body.detail : body.reason;
  at("evidence").textContent = failed || !body.evidence ? "" : body.evidence.sentence;
  at("answer").textContent = JSON.stringify(body, null, 2);
}

async function check(event) {
  event.preventDefault();
  const asked = {
    source: at("source").value,
    fact: at("fact").value,
    speaker: at("speaker").value,
    record: at("record").checked,
  };
  if (at("user").value) asked.user_id = at("user").value;
  const { status, body } = await call("/check", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(asked),
  });
  showAnswer(status, body);
  await showDecisions();
}

at("form").addEventListener("submit", check);
at("verify").addEventListener("click", showChain);
at("more").addEventListener("click", () => showDecisions(cursor));
at("key").addEventListener("change", () => { showDecisions(); showChain(); });
showReady();
showChain();
showDecisions();
