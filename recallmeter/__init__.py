"""Recallmeter: how well an AI agent's memory finds what it should.

The names below are public: notebooks import them, YAML names them by ``_target_``, and they stay where they are when a module moves.
Each is imported when it is first asked for, so that ``import recallmeter`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .datasets.errors import InputError as InputError
    from .datasets.formats.agentmemory import load_agentmemory as load_agentmemory
    from .datasets.formats.beir import load_beir as load_beir
    from .datasets.formats.hugging_face import load_hugging_face as load_hugging_face
    from .datasets.formats.ir_datasets import load_ir_datasets as load_ir_datasets
    from .datasets.formats.jsonl import load_jsonl as load_jsonl
    from .datasets.formats.locomo import load_locomo as load_locomo
    from .datasets.formats.longmemeval import load_longmemeval as load_longmemeval
    from .datasets.formats.trec import load_trec as load_trec
    from .datasets.model import Dataset as Dataset
    from .datasets.model import Observation as Observation
    from .datasets.model import Query as Query
    from .datasets.webapp import generate as generate_webapp
    from .datasets.zh_memory import load_zh_memory as load_zh_memory
    from .evaluation.audits.controls import Constant as Constant
    from .evaluation.audits.controls import Empty as Empty
    from .evaluation.audits.controls import Oracle as Oracle
    from .evaluation.audits.controls import Random as Random
    from .evaluation.audits.controls import Reversed as Reversed
    from .retrieval.arms.bm25 import BM25 as BM25
    from .retrieval.arms.fallback import Fallback as Fallback
    from .retrieval.arms.graph import Graph as Graph
    from .retrieval.arms.grep import Grep as Grep
    from .retrieval.arms.okapi import Okapi as Okapi
    from .retrieval.arms.vector import Vector as Vector
    from .retrieval.embedders.choice import from_environment as embedder_from_environment
    from .retrieval.embedders.cohere import CohereEncoder as CohereEncoder
    from .retrieval.embedders.embedding import CachedEmbedder as CachedEmbedder
    from .retrieval.embedders.gemini import GeminiEncoder as GeminiEncoder
    from .retrieval.embedders.local import SentenceTransformerEncoder as SentenceTransformerEncoder
    from .retrieval.embedders.onnx import OnnxEncoder as OnnxEncoder
    from .retrieval.embedders.openai import OpenAIEncoder as OpenAIEncoder
    from .retrieval.embedders.openrouter import OpenRouterEncoder as OpenRouterEncoder
    from .retrieval.embedders.transport import Transport as Transport
    from .retrieval.embedders.voyage import VoyageEncoder as VoyageEncoder
    from .retrieval.environment import budget as budget_from_environment
    from .retrieval.environment import enabled as enabled_from_environment
    from .retrieval.environment import weight as weight_from_environment
    from .retrieval.expansion import Expansion as Expansion
    from .retrieval.external.bm25s import Bm25s as Bm25s
    from .retrieval.external.chroma import Chroma as Chroma
    from .retrieval.external.http import Http as Http
    from .retrieval.external.lancedb import LanceDB as LanceDB
    from .retrieval.external.langchain import LangChain as LangChain
    from .retrieval.external.langchain import in_memory as langchain_in_memory
    from .retrieval.external.llamaindex import LlamaIndex as LlamaIndex
    from .retrieval.external.llamaindex import vector_store_index as llamaindex_vector_store
    from .retrieval.external.mem0 import Mem0 as Mem0
    from .retrieval.external.process import Process as Process
    from .retrieval.external.qdrant import Qdrant as Qdrant
    from .retrieval.external.sqlite_fts5 import SqliteFts5 as SqliteFts5
    from .retrieval.external.tantivy import Tantivy as Tantivy
    from .retrieval.fusion import WeightedRRF as WeightedRRF
    from .retrieval.indexes.exact import Exact as Exact
    from .retrieval.indexes.hnsw import HNSW as HNSW
    from .retrieval.indexes.pgvector import Pgvector as Pgvector
    from .retrieval.indexes.qdrant import QdrantVectors as QdrantVectors
    from .retrieval.ingest.deduplicate import Deduplicate as Deduplicate
    from .retrieval.ingest.lifecycle import Lifecycle as Lifecycle
    from .retrieval.ingest.privacy import PrivacyFilter as PrivacyFilter
    from .retrieval.ingest.retriever import Ingest as Ingest
    from .retrieval.ingest.supersede import Supersede as Supersede
    from .retrieval.pipeline import Pipeline as Pipeline
    from .retrieval.ranking import Hit as Hit
    from .retrieval.ranking import Ranking as Ranking
    from .retrieval.ranking import Retriever as Retriever
    from .retrieval.stages.budget import TokenBudget as TokenBudget
    from .retrieval.stages.cross_encoder import CrossEncoder as CrossEncoder
    from .retrieval.stages.cutoff import DynamicCutoff as DynamicCutoff
    from .retrieval.stages.cutoff import Threshold as Threshold
    from .retrieval.stages.cutoff import TopK as TopK
    from .retrieval.stages.decay import Ebbinghaus as Ebbinghaus
    from .retrieval.stages.decay import TimeDecay as TimeDecay
    from .retrieval.stages.diversity import SessionDiversity as SessionDiversity
    from .retrieval.stages.duplicates import NearDuplicates as NearDuplicates
    from .retrieval.stages.mmr import MMR as MMR
    from .retrieval.stages.rerank import Rerank as Rerank
    from .retrieval.stages.superseded import HideSuperseded as HideSuperseded
    from .retrieval.stages.temporal import TemporalFilter as TemporalFilter
    from .retrieval.text.analysis import Analyzer as Analyzer

if not (Path(__file__).parent / "conf").is_dir():
    __path__.append(str(Path(__file__).parents[1]))  # a checkout: the floors lie beside the front door, not below it

_HOMES = {
    "InputError": "datasets.errors:InputError",
    "load_agentmemory": "datasets.formats.agentmemory:load_agentmemory",
    "load_beir": "datasets.formats.beir:load_beir",
    "load_hugging_face": "datasets.formats.hugging_face:load_hugging_face",
    "load_ir_datasets": "datasets.formats.ir_datasets:load_ir_datasets",
    "load_jsonl": "datasets.formats.jsonl:load_jsonl",
    "load_locomo": "datasets.formats.locomo:load_locomo",
    "load_longmemeval": "datasets.formats.longmemeval:load_longmemeval",
    "load_trec": "datasets.formats.trec:load_trec",
    "Dataset": "datasets.model:Dataset",
    "Observation": "datasets.model:Observation",
    "Query": "datasets.model:Query",
    "generate_webapp": "datasets.webapp:generate",
    "load_zh_memory": "datasets.zh_memory:load_zh_memory",
    "Constant": "evaluation.audits.controls:Constant",
    "Empty": "evaluation.audits.controls:Empty",
    "Oracle": "evaluation.audits.controls:Oracle",
    "Random": "evaluation.audits.controls:Random",
    "Reversed": "evaluation.audits.controls:Reversed",
    "BM25": "retrieval.arms.bm25:BM25",
    "Fallback": "retrieval.arms.fallback:Fallback",
    "Graph": "retrieval.arms.graph:Graph",
    "Grep": "retrieval.arms.grep:Grep",
    "Okapi": "retrieval.arms.okapi:Okapi",
    "Vector": "retrieval.arms.vector:Vector",
    "embedder_from_environment": "retrieval.embedders.choice:from_environment",
    "CohereEncoder": "retrieval.embedders.cohere:CohereEncoder",
    "CachedEmbedder": "retrieval.embedders.embedding:CachedEmbedder",
    "GeminiEncoder": "retrieval.embedders.gemini:GeminiEncoder",
    "SentenceTransformerEncoder": "retrieval.embedders.local:SentenceTransformerEncoder",
    "OnnxEncoder": "retrieval.embedders.onnx:OnnxEncoder",
    "OpenAIEncoder": "retrieval.embedders.openai:OpenAIEncoder",
    "OpenRouterEncoder": "retrieval.embedders.openrouter:OpenRouterEncoder",
    "Transport": "retrieval.embedders.transport:Transport",
    "VoyageEncoder": "retrieval.embedders.voyage:VoyageEncoder",
    "budget_from_environment": "retrieval.environment:budget",
    "enabled_from_environment": "retrieval.environment:enabled",
    "weight_from_environment": "retrieval.environment:weight",
    "Expansion": "retrieval.expansion:Expansion",
    "Bm25s": "retrieval.external.bm25s:Bm25s",
    "Chroma": "retrieval.external.chroma:Chroma",
    "Http": "retrieval.external.http:Http",
    "LanceDB": "retrieval.external.lancedb:LanceDB",
    "LangChain": "retrieval.external.langchain:LangChain",
    "langchain_in_memory": "retrieval.external.langchain:in_memory",
    "LlamaIndex": "retrieval.external.llamaindex:LlamaIndex",
    "llamaindex_vector_store": "retrieval.external.llamaindex:vector_store_index",
    "Mem0": "retrieval.external.mem0:Mem0",
    "Process": "retrieval.external.process:Process",
    "Qdrant": "retrieval.external.qdrant:Qdrant",
    "SqliteFts5": "retrieval.external.sqlite_fts5:SqliteFts5",
    "Tantivy": "retrieval.external.tantivy:Tantivy",
    "WeightedRRF": "retrieval.fusion:WeightedRRF",
    "Exact": "retrieval.indexes.exact:Exact",
    "HNSW": "retrieval.indexes.hnsw:HNSW",
    "Pgvector": "retrieval.indexes.pgvector:Pgvector",
    "QdrantVectors": "retrieval.indexes.qdrant:QdrantVectors",
    "Deduplicate": "retrieval.ingest.deduplicate:Deduplicate",
    "Lifecycle": "retrieval.ingest.lifecycle:Lifecycle",
    "PrivacyFilter": "retrieval.ingest.privacy:PrivacyFilter",
    "Ingest": "retrieval.ingest.retriever:Ingest",
    "Supersede": "retrieval.ingest.supersede:Supersede",
    "Pipeline": "retrieval.pipeline:Pipeline",
    "Hit": "retrieval.ranking:Hit",
    "Ranking": "retrieval.ranking:Ranking",
    "Retriever": "retrieval.ranking:Retriever",
    "TokenBudget": "retrieval.stages.budget:TokenBudget",
    "CrossEncoder": "retrieval.stages.cross_encoder:CrossEncoder",
    "DynamicCutoff": "retrieval.stages.cutoff:DynamicCutoff",
    "Threshold": "retrieval.stages.cutoff:Threshold",
    "TopK": "retrieval.stages.cutoff:TopK",
    "Ebbinghaus": "retrieval.stages.decay:Ebbinghaus",
    "TimeDecay": "retrieval.stages.decay:TimeDecay",
    "SessionDiversity": "retrieval.stages.diversity:SessionDiversity",
    "NearDuplicates": "retrieval.stages.duplicates:NearDuplicates",
    "MMR": "retrieval.stages.mmr:MMR",
    "Rerank": "retrieval.stages.rerank:Rerank",
    "HideSuperseded": "retrieval.stages.superseded:HideSuperseded",
    "TemporalFilter": "retrieval.stages.temporal:TemporalFilter",
    "Analyzer": "retrieval.text.analysis:Analyzer",
}
"""Public name → module and name that it is called by at home."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("recallmeter")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, called = _HOMES[name].partition(":")
    value = globals()[name] = getattr(import_module(f".{module}", __name__), called)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "__version__"})
