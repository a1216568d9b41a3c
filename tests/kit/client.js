// What the examples of the JavaScript kit do, with fetch and a reader of server-sent events alone.
// Prints one JSON object of what it saw. Run with: deno run --allow-net=<host> client.js <origin>
const [origin] = Deno.args;

async function call(method, path, body) {
  const response = await fetch(origin + path, {
    method,
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  return { status: response.status, requestId: response.headers.get("x-request-id"), ...answer };
}

async function* events(response) {
  let buffer = "";
  let name = "message";
  let data = [];
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    const lines = buffer.split("\n");
    buffer = lines.pop();
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      if (line === "") {
        if (data.length > 0) yield { name, payload: JSON.parse(data.join("\n")) };
        name = "message";
        data = [];
      } else if (line.startsWith("event:")) {
        name = line.slice(6).trim();
      } else if (line.startsWith("data:")) {
        data.push(line.slice(5).trimStart());
      }
    }
  }
}

async function stream(path, body) {
  const response = await fetch(origin + path, {
    method: "POST",
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const heard = [];
  for await (const event of events(response)) heard.push(event);
  return { status: response.status, requestId: response.headers.get("x-request-id"), heard };
}

const user = await call("POST", "/users", { snapshot: { name: "Bo" } });
const session = await call("POST", "/sessions", { title: "Campfire", user_id: user.data.id });
const id = encodeURIComponent(session.data.id);
const turn = await stream(`/sessions/${id}/respond/stream`, { message: "Please continue the campfire scene." });
await call("PATCH", `/sessions/${id}/prompt-runtime/policy`, {
  budget: { max_input_tokens: 4096, reserved_completion_tokens: 1024 },
  source_selection: { history: { mode: "windowed", max_messages: 24 }, examples: { enabled: false } },
});
const preview = await call("POST", `/sessions/${id}/prompt-runtime/preview`, {
  branch_id: "main",
  text: "{{setvar::资产.金币::3}}{{getvar::资产}}",
  visibility: { mode: "allow_all_except_hidden", hidden_floor_ranges: [{ start_floor_no: 1, end_floor_no: 2 }] },
});
const inspected = await call("POST", `/sessions/${id}/prompt-runtime/inspect`, {
  message: "Please continue the campfire scene.",
  branch_id: "alt-branch",
  prompt_intent: "continue",
  generation_params: { max_output_tokens: 256, temperature: 0.7 },
});
const variable = await call("PUT", "/variables", { scope: "branch", session_id: session.data.id, branch_id: "main", key: "route", value: "campfire" });
const resolved = await call("GET", `/variables/resolve?session_id=${id}&branch_id=main&include_layers=true`);
const timeline = await call("GET", `/sessions/${id}/timeline?branch_id=main&limit=200&offset=0`);
const refused = await call("POST", "/sessions/missing/respond", { message: "hello" });
const late = await stream("/sessions/missing/respond/stream", { message: "hello" });

const said = turn.heard.filter((event) => event.name === "chunk").map((event) => event.payload.chunk).join("");
const done = turn.heard.find((event) => event.name === "done");
console.log(JSON.stringify({
  ids: [user, session, turn, preview, inspected, variable, resolved, timeline, refused, late].every((each) => each.requestId),
  names: [...new Set(turn.heard.map((event) => event.name))],
  said,
  done: done.payload,
  preview: preview.data,
  inspected: inspected.data,
  variable: variable.data,
  resolved: resolved.data,
  timeline: { data: timeline.data, meta: timeline.meta },
  refused,
  late: late.status,
}));
