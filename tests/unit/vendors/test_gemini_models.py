"""Gemini's model lists, token counts and embeddings."""

import base64
import struct

import pytest
from google.genai import types

from agentui.chat.request import WireRequest
from agentui.errors import BadRequest, UnsupportedFeature, UpstreamInvalid
from agentui.vendors.base import ModelInfo
from agentui.vendors.gemini import Gemini

GEMINI = Gemini()


def asked(**body) -> WireRequest:
    return WireRequest("openai", "embeddings", "embed-1", False, "/v1/embeddings", body)


def test_a_model_list_keeps_geminis_own_entries():
    entry = {"name": "models/gemini-2.5-pro", "displayName": "Gemini 2.5 Pro", "inputTokenLimit": 9}
    (model,) = GEMINI.models.parse_list({"models": [entry], "nextPageToken": "x"})
    assert (model.id, model.display_name, model.owner) == ("gemini-2.5-pro", "Gemini 2.5 Pro", "google")
    assert GEMINI.models.render_list([model]) == {"models": [entry]}


def test_a_model_of_another_vendor_gets_geminis_shape():
    entry = GEMINI.models.render_entry(ModelInfo("pipeline/x"))
    assert entry["name"] == "models/pipeline/x"
    assert "generateContent" in entry["supportedGenerationMethods"]
    types.ListModelsResponse.model_validate({"models": [{"name": entry["name"], "displayName": entry["displayName"]}]})


@pytest.mark.parametrize("body", [None, [], {"data": []}, {"models": [3]}, {"models": {}}])
def test_another_list_is_refused(body):
    with pytest.raises(UpstreamInvalid):
        GEMINI.models.parse_list(body)


def test_token_counts():
    assert GEMINI.count_tokens.parse_reply({"totalTokens": 31, "promptTokensDetails": []}) == 31
    assert GEMINI.count_tokens.parse_reply({}) == 0
    assert types.CountTokensResponse.model_validate(GEMINI.count_tokens.render_reply(31)).total_tokens == 31


@pytest.mark.parametrize("body", [None, [], {"totalTokens": "many"}, {"error": {}}])
def test_what_is_no_count_is_refused(body):
    with pytest.raises(UpstreamInvalid):
        GEMINI.count_tokens.parse_reply(body)


def test_embeddings_are_asked_in_a_batch():
    wire = GEMINI.embeddings.render_request(asked(input=["a", "b"], dimensions=8, user="u"))
    assert (wire.path, wire.dropped) == ("/v1beta/models/embed-1:batchEmbedContents", ("user",))
    assert wire.body["requests"][1] == {
        "model": "models/embed-1",
        "content": {"parts": [{"text": "b"}]},
        "outputDimensionality": 8,
    }


def test_one_text_is_a_batch_of_one():
    assert len(GEMINI.embeddings.render_request(asked(input="a")).body["requests"]) == 1


@pytest.mark.parametrize("tokens", [[1, 2], [[1, 2], [3]]])
def test_token_numbers_cannot_be_embedded(tokens):
    with pytest.raises(UnsupportedFeature):
        GEMINI.embeddings.render_request(asked(input=tokens))


@pytest.mark.parametrize("junk", [None, [], {}, ["a", {}], 3])
def test_an_input_that_is_no_text_is_refused(junk):
    with pytest.raises(BadRequest) as caught:
        GEMINI.embeddings.render_request(asked(input=junk))
    assert caught.value.param == "input"


ANSWER = {"embeddings": [{"values": [0.5, -1]}, {"values": [2, 3.25]}], "usageMetadata": {"promptTokenCount": 4}}


def test_embeddings_become_openais_list():
    assert GEMINI.embeddings.parse_reply(ANSWER, asked(input=["a", "b"])) == {
        "object": "list",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [0.5, -1]},
            {"object": "embedding", "index": 1, "embedding": [2, 3.25]},
        ],
        "model": "embed-1",
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }


def test_embeddings_are_packed_when_base64_is_asked():
    reply = GEMINI.embeddings.parse_reply(ANSWER, asked(input=["a", "b"], encoding_format="base64"))
    assert struct.unpack("<2f", base64.b64decode(reply["data"][1]["embedding"])) == (2, 3.25)


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"embeddings": [{"values": [1]}]},
        {"embeddings": [{"values": []}, {"values": [1]}]},
        {"embeddings": ["x", "y"]},
        {"embeddings": [{"values": ["x"]}, {"values": [1]}]},
    ],
)
def test_embeddings_that_do_not_fit_are_refused(body):
    with pytest.raises(UpstreamInvalid):
        GEMINI.embeddings.parse_reply(body, asked(input=["a", "b"]))


def test_a_number_too_large_for_float32_is_refused():
    with pytest.raises(UpstreamInvalid):
        GEMINI.embeddings.parse_reply({"embeddings": [{"values": [1e300]}]}, asked(input="a", encoding_format="base64"))


def test_the_key_goes_into_a_header():
    assert GEMINI.auth_headers("k") == {"x-goog-api-key": "k"}
