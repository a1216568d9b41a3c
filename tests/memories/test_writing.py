"""What turns write of memories: with their commit, by jobs behind them, and what no model may do (TavernHeadless' contract,
3.5 to 3.7)."""

from tests.memories.conftest import BeginChat


async def test_without_a_model_summary_blocks_become_items_with_the_turn(begin_chat: BeginChat) -> None:
    chat = await begin_chat(memory="sync")
    chat.scribe.reply = "The gate opens. <summary>They are inside.</summary>"
    told = await chat.respond("I open the gate.")
    assert (told["generated_text"], told["memory"]) == (
        "The gate opens.",
        {"mode": "sync", "status": "applied", "job_id": None},
    )
    [item] = await chat.items()
    page = await chat.page(told["floor_id"])
    found = {name: item[name] for name in ("scope", "scope_id", "type", "summary_tier", "content", "importance", "confidence")}
    assert found == {
        "scope": "branch",
        "scope_id": f'["{chat.session}","main"]',
        "type": "summary",
        "summary_tier": None,
        "content": "They are inside.",
        "importance": 0.5,
        "confidence": 1.0,
    }
    assert (item["source_floor_id"], [source["page_id"] for source in item["sources"]]) == (told["floor_id"], [page["id"]])
    assert (chat.scribe.asked, await chat.jobs(), await chat.asked("GET", "/memory/scopes")) == ([], [], [])

    # Another answer hides it, and the old one brings it back; no model was asked for any of it.
    chat.scribe.reply = "It stays shut."
    again = await chat.asked("POST", f"/floors/{told['floor_id']}/retry", {})
    assert again["memory"] == {"mode": "sync", "status": "applied", "job_id": None}
    assert await chat.items() == []
    await chat.asked("PATCH", f"/pages/{page['id']}/activate")
    assert [each["content"] for each in await chat.items()] == ["They are inside."]


async def test_sessions_say_whether_they_remember(begin_chat: BeginChat) -> None:
    chat = await begin_chat({"memory": "off"})
    assert (await chat.asked("GET", f"/sessions/{chat.session}"))["memory"] == "off"
    chat.scribe.reply = "Yes. <summary>All is well.</summary>"
    assert "memory" not in await chat.respond("Mira fears wolves.")
    await chat.asked("PATCH", f"/sessions/{chat.session}", {"memory": "incognito"})
    assert "memory" not in await chat.respond("Mira fears wolves.")
    await chat.reader.chat_in(chat.session)
    assert (await chat.every(), await chat.jobs()) == ([], [])
    await chat.asked("PATCH", f"/sessions/{chat.session}", {"memory": None})
    assert (await chat.respond("Mira fears wolves."))["memory"]["status"] == "queued"


async def test_a_job_reads_a_turn_behind_its_commit(begin_chat: BeginChat) -> None:
    chat = await begin_chat()
    chat.scribe.answer = lambda asked: {
        "microSummaries": [{"floor": 0, "summary": "Mira told of the wolves."}],
        "factsAdd": [
            {"factKey": "mira.fear", "value": "Mira fears wolves", "quote": "Mira fears wolves", "importance": 7},
            {"factKey": "x", "value": "The king is dead", "quote": "The king is dead"},
            {"factKey": "x", "value": "A dragon sleeps", "quote": "Mira fears wolves"},
            {"value": "Nobody quotes this"},
        ],
        "factsUpdate": [{"id": "f9", "value": "Mira fears wolves", "quote": "Mira fears wolves"}],
        "openLoopsAdd": [{"content": "Who opens the gate?", "quote": "who opens the GATE"}],
    }
    told = await chat.respond("Mira fears wolves.  And who opens the\ngate?")
    page = await chat.page(told["floor_id"])
    assert told["memory"] == {"mode": "async", "status": "queued", "job_id": f"memory-job:ingest_turn:{page['id']}"}
    [job] = await chat.ended("succeeded")
    assert {job["id"], job["floor_id"], job["job_type"], job["scope"]} == {
        told["memory"]["job_id"],
        told["floor_id"],
        "ingest_turn",
        "branch",
    }
    assert job["payload"].keys() >= {
        "accountId", "sessionId", "floorId", "floorNo", "assistantMessageId", "pageId", "branchId", "userInputDigest",
        "committedAt", "summaries", "enableConsolidation", "runtimeMode",
    }  # fmt: skip
    summary, loop, fact = sorted(await chat.items(), key=lambda item: -ord(item["type"][0]))
    question = await chat.page(told["floor_id"], "input")
    assert (summary["content"], summary["summary_tier"], summary["importance"]) == ("Mira told of the wolves.", "micro", 0.6)
    assert (summary["coverage_start_floor_no"], summary["coverage_end_floor_no"]) == (0, 0)
    assert (loop["content"], loop["importance"]) == ("Who opens the gate?", 0.6)
    assert (fact["content"], fact["fact_key"], fact["importance"]) == ("mira.fear: Mira fears wolves", "mira.fear", 1.0)
    assert fact["sources"] == [{"page_id": question["id"], "floor_id": told["floor_id"], "quote": "Mira fears wolves"}]
    assert {item["author"] for item in (summary, loop, fact)} == {"model"}
    assert {item["source_job_id"] for item in (summary, loop, fact)} == {job["id"]}
    [asked] = chat.scribe.asked
    assert asked["floors"] == [
        {
            "floor": 0,
            "said": [
                {"speaker": "user", "text": "Mira fears wolves.  And who opens the\ngate?"},
                {"speaker": "assistant", "text": "So it is."},
            ],
        }
    ]
    ledger = await chat.asked("GET", f"/pages/{page['id']}/memory/promotions")
    [batch] = ledger["items"]
    assert (batch["proposal_status"], batch["decision_code"]) == ("promoted", "promotion_allowed")
    assert [(each["operation_kind"], each["status"], each["reason"]) for each in batch["items"]] == [
        ("refresh_summary", "promoted", None),
        ("add_fact", "promoted", None),
        ("add_open_loop", "promoted", None),
        ("add_fact", "rejected", "quote_not_found"),
        ("add_fact", "rejected", "quote_says_nothing"),
        ("add_fact", "rejected", "no_quote"),
        ("add_fact", "rejected", "unknown_id"),
    ]
    [scope] = await chat.asked("GET", "/memory/scopes")
    assert (scope["revision"], scope["last_processed_floor_no"], scope["lease_owner"]) == (1, 0, None)
