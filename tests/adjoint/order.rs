//! The order in which the terms of a sum are added: not a promise, but every change of it is to be seen here.
//!
//! Each row has a digest of the bits of all sums of one case. Where the order was changed on purpose, the failing test
//! prints the new rows.

use common::Lie::{self, C, F, Gap, Second};
use ndarray::ArrayView;
use ndarray_broadcast::{broadcast_map_reduce_to, broadcast_map_sum_to, prelude::*};
use std::fmt::Write;

/// Numbers of both signs, over many powers of two: whatever order they are added in gives other last bits.
fn scrambled(i: usize) -> f64 {
    let hash = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    #[allow(clippy::cast_precision_loss, reason = "some digits are enough")]
    let fraction = (hash >> 11) as f64 / (1_u64 << 53) as f64 - 0.25;
    fraction * f64::from(1_u32 << (hash % 20))
}

/// FNV-1a.
fn digest(bits: impl Iterator<Item = u64>) -> u64 {
    bits.fold(0xCBF2_9CE4_8422_2325, |digest, bits| (digest ^ bits).wrapping_mul(0x0100_0000_01B3))
}

/// Compares the digests of cases with those that were recorded.
fn check<C: std::fmt::Debug>(recorded: &[(C, u64)], of: impl Fn(&C) -> u64) {
    let mut changed = String::new();
    for (case, expected) in recorded {
        let found = of(case);
        if found != *expected {
            writeln!(changed, "    ({case:?}, {found:#018X}),").expect("a string takes everything");
        }
    }
    assert!(changed.is_empty(), "other bits:\n{changed}");
}

type Case = (&'static [usize], &'static [usize], Lie);

#[allow(clippy::cast_possible_truncation, reason = "a number of fewer digits")]
fn single(i: usize) -> f32 {
    scrambled(i) as f32
}

fn of_singles(&(shape, axes, lie): &Case) -> u64 {
    let x = lie.array(shape, single);
    digest(x.sum_axes(axes).expect("axes").iter().map(|x| u64::from(x.to_bits())))
}

fn of_doubles(&(shape, axes, lie): &Case) -> u64 {
    let x = lie.array(shape, scrambled);
    digest(x.sum_axes(axes).expect("axes").iter().map(|x| x.to_bits()))
}

fn of_reductions(&(shape, axes, lie): &Case) -> u64 {
    let x = lie.array(shape, single);
    let sums = x.reduce_axes(axes, 0.0, |a, b| a + b).expect("axes");
    digest(sums.iter().map(|x| u64::from(x.to_bits())))
}

fn of_fused_reductions(&(shape, to, lie): &Case) -> u64 {
    let (x, y) = (lie.array(shape, single), lie.array(shape, |i| single(3 * i)));
    let sums = broadcast_map_reduce_to((&x, &y), to, 0.0, |x, y| x * y, |a, b| a + b).expect("shapes");
    digest(sums.iter().map(|x| u64::from(x.to_bits())))
}

#[test]
fn sums_along_one_axis() {
    check(
        &[
            // rows of one lane: eight chunks, four, single elements, and runs longer than a block
            ((&[3, 7][..], &[1][..], C), 0xB222_B3B3_5BA4_BF50),
            ((&[3, 47], &[1], C), 0xFBE0_4101_BB67_A05E),
            ((&[100, 30], &[1], C), 0x6F30_6EEB_9DB0_E07E),
            ((&[3, 247], &[1], C), 0xC9DE_6162_4BE6_599E),
            ((&[9, 247], &[1], C), 0xA689_8EEE_C55F_9880),
            ((&[2, 139], &[1], C), 0xCDA9_E1D8_41FE_76F9),
            ((&[2, 1024], &[1], C), 0x778C_C114_9538_0381),
            ((&[2, 1025], &[1], C), 0x66E2_D516_0DC3_6475),
            ((&[2, 9_001], &[1], C), 0xFC0B_2A9A_A9C8_EB63),
            ((&[1, 70_001], &[1], C), 0x0CBC_87C4_169F_971D),
            ((&[2, 1_500], &[1], Second), 0xF0FF_E7D7_F6E3_4BB4),
            ((&[5, 300], &[0], F), 0x9543_3C9D_DDC3_518E),
            ((&[3, 301], &[1], Gap), 0x57A1_A051_AAA2_97B8),
            // short lanes, side by side
            ((&[40, 2], &[1], C), 0xE441_2BF3_16A9_6748),
            ((&[40, 3], &[1], C), 0xC9D5_9B20_E853_A8B6),
            ((&[240, 3], &[1], C), 0x884E_7777_4B82_E23F),
            ((&[40, 4], &[1], C), 0x237F_722A_4DEF_8683),
            ((&[240, 4], &[1], C), 0x7854_8B44_3A68_F438),
            ((&[40, 5], &[1], C), 0xECBA_A914_A8CD_58CD),
            ((&[40, 10], &[1], C), 0xC15E_E0DA_6D49_8FEC),
            ((&[140, 13], &[1], C), 0xE634_1FE9_D72F_8764),
            ((&[140, 22], &[1], C), 0x094A_9AD7_1D68_8FC5),
            ((&[140, 22], &[1], Gap), 0x9BFB_8F6E_E733_29AF),
            ((&[40, 8], &[1], C), 0x2E23_9F1C_0B52_47BF),
            ((&[140, 8], &[1], C), 0xA3A8_B3E5_8B8C_5622),
            ((&[40, 8], &[1], Gap), 0xC3F1_7C8D_6888_DED1),
            ((&[140, 8], &[1], Gap), 0x06CF_04B6_FDE4_1384),
            // rows that are added up: few, many, narrow, wide
            ((&[2, 37], &[0], C), 0xE839_E2AB_15D1_061D),
            ((&[3, 37], &[0], C), 0xDF37_EA29_6326_6DA6),
            ((&[4, 37], &[0], C), 0xFDC5_8626_2CCA_E6DD),
            ((&[4, 137], &[0], C), 0xE05F_CE62_D4AC_9C14),
            ((&[4, 537], &[0], C), 0x4333_3A48_2B23_C7AF),
            ((&[8, 37], &[0], C), 0xA7C6_E771_1960_BEEA),
            ((&[8, 137], &[0], C), 0x74CC_C93C_3C05_DBB4),
            ((&[8, 337], &[0], C), 0xA02F_5FAD_7E75_60F9),
            ((&[13, 37], &[0], C), 0x0EBE_D595_69C6_A78F),
            ((&[13, 137], &[0], C), 0x3EC2_ED45_2369_DEAF),
            ((&[13, 337], &[0], C), 0xC793_8911_EE14_8A50),
            ((&[2, 537], &[0], C), 0x04E0_671C_4C17_911F),
            ((&[100, 3], &[0], C), 0xE209_CBF6_B467_CA7C),
            ((&[100, 9], &[0], C), 0x8469_CDAD_6914_B52A),
            ((&[127, 40], &[0], C), 0x9CDA_37FA_1759_7118),
            ((&[129, 40], &[0], C), 0xD4FC_20A4_95EE_CC55),
            ((&[700, 40], &[0], C), 0xA0AC_37C8_FC2F_515A),
            ((&[3_001, 7], &[0], C), 0x17F2_044B_00BC_10D7),
            ((&[2_055, 3], &[0], C), 0x11D9_A424_9771_81C3),
            ((&[2_055, 1], &[0], C), 0x4F6A_35CD_06EC_B5C7),
            ((&[20, 4_096], &[0], C), 0x6B85_E12D_E1BB_56FE),
            ((&[20, 4_100], &[0], C), 0xE05E_14EB_2AEC_8B0C),
            ((&[9, 13_000], &[0], C), 0x2A12_C414_013E_50B0),
            ((&[1_032, 40], &[0], C), 0xD51E_B4EA_2D88_0FE7),
            ((&[80, 13_000], &[0], C), 0x3621_7B87_633B_B13F),
            ((&[200, 33], &[0], Gap), 0x8F5C_6596_6D27_B682),
            ((&[200, 33], &[0], Second), 0x37A0_544C_D92C_FB68),
            ((&[33, 600], &[1], F), 0xD8C7_661D_6464_5986),
        ],
        of_singles,
    );
}

#[test]
fn sums_along_several_axes() {
    check(
        &[
            ((&[12, 16, 192][..], &[0, 2][..], C), 0xE096_0ECE_FD32_6519),
            ((&[70, 20, 2, 200], &[0, 3], C), 0xEF3B_D5B2_0460_50FF),
            ((&[20, 31, 3][..], &[0][..], C), 0x33BB_C33A_148B_DEC2),
            ((&[20, 31, 3], &[1], C), 0x0D12_C42A_FB5F_0F7E),
            ((&[20, 31, 3], &[2], C), 0xB2A8_772C_BD03_2B9F),
            ((&[20, 31, 3], &[0, 1], C), 0xDAAD_200A_641F_7F34),
            ((&[20, 31, 3], &[0, 2], C), 0xB3BB_C4C8_3E34_8DD0),
            ((&[20, 31, 3], &[1, 2], C), 0x45B7_0532_91E7_0AC4),
            ((&[20, 31, 3], &[0, 2], F), 0xE9C4_AEE5_179F_CABD),
            ((&[20, 31, 3], &[1], Second), 0x2D62_19A7_D54D_989B),
            ((&[9, 30, 50], &[1, 2], Gap), 0xF575_3B2F_7743_D70A),
            ((&[9, 130, 40], &[1], C), 0xA73B_AC63_DA21_5AA9),
            ((&[9, 17, 40], &[1], C), 0xFF29_DBCB_59F9_191C),
            ((&[300, 5, 70], &[0, 2], C), 0xA397_E0FD_892B_29F9),
            ((&[70, 5, 300], &[0, 2], C), 0x6595_2161_AA50_D053),
            ((&[600, 4, 11], &[0, 2], Gap), 0xBBE5_6ACD_ACF7_5E80),
            ((&[6, 5, 4, 7], &[0, 2], C), 0x3DF0_9489_47D7_85F6),
            ((&[6, 5, 4, 7], &[1, 3], C), 0x4FD2_226A_F22C_1BFA),
            ((&[6, 5, 4, 7], &[0, 3], F), 0x988E_4BD8_5CA0_5BAA),
            ((&[8, 6, 14, 14], &[0, 2, 3], C), 0x8426_197C_56A3_E01F),
            ((&[8, 6, 14, 14], &[1], C), 0x001A_187D_272D_4A4D),
            ((&[2, 2, 2, 2, 2, 2], &[1, 3, 5], C), 0x3EB5_0E88_482C_12FD),
            ((&[3, 2, 3, 2, 3, 2], &[0, 2, 4], C), 0x75DD_F151_641B_5765),
            ((&[40, 30, 20], &[0, 1, 2], C), 0x4799_C5C2_C7A5_8777),
            ((&[40, 30, 20], &[0, 1, 2], Gap), 0x424C_96C2_BEA3_609A),
            ((&[4, 16_000], &[0, 1], Gap), 0xF5C0_24C3_EF90_BAE4),
        ],
        of_singles,
    );
}

/// Elements of twice the size, of which half as many go into a tile or a lane.
#[test]
fn sums_of_larger_elements() {
    check(
        &[
            ((&[2, 139][..], &[1][..], C), 0xB096_8608_55B3_394A),
            ((&[2, 3_001], &[1], C), 0x129B_86A7_C1DF_953F),
            ((&[13, 37], &[0], C), 0xD489_4FED_B9D1_6DB8),
            ((&[13, 137], &[0], C), 0x1DF7_F997_9656_D336),
            ((&[300, 9], &[0], C), 0x8246_8766_4BD6_0096),
            ((&[900, 40], &[0], C), 0x39FD_00A3_0BEF_E287),
            ((&[20, 7_000], &[0], C), 0xFD99_B4B6_7710_13A4),
            ((&[300, 5, 70], &[0, 2], C), 0xB8AA_5CA4_5628_B4D5),
            ((&[8, 6, 14, 14], &[0, 2, 3], F), 0x269D_41C9_CB78_1825),
            ((&[20, 31, 3], &[0, 2], Second), 0x611A_9636_C1F9_668E),
        ],
        of_doubles,
    );
}

/// Sums of products that are added as they are made.
#[test]
fn sums_of_what_a_closure_makes() {
    check(
        &[
            // lanes: rows of 32 in registers, and what is left of each lane
            ((&[3, 32][..], &[3, 1][..], C), 0xF5EF_B8D7_1C7C_CFA2),
            ((&[3, 47], &[3, 1], C), 0xC788_F80C_A71F_9F66),
            ((&[70, 7], &[1, 7], C), 0xD6B1_6029_D38E_4735),
            ((&[200, 30], &[200, 1], C), 0x66CD_842C_DC27_82FE),
            ((&[200, 41], &[200, 1], C), 0x5DAA_8010_B9D2_CA0A),
            ((&[3, 96], &[3, 1], C), 0xEDCA_599C_82E2_90BD),
            ((&[70, 300], &[70, 1], C), 0xABDC_1044_D1C6_C003),
            ((&[4, 6, 70], &[4, 1, 1], Gap), 0xE97C_9311_83F3_3619),
            ((&[2, 2_048], &[2, 1], C), 0x6313_5C6A_DC94_A23C),
            // blocks and tiles
            ((&[3, 9001], &[3, 1], C), 0xCDFB_7205_F4BE_8BF6),
            ((&[13, 37], &[37], C), 0x3FAD_D33C_0EA0_1DD3),
            ((&[13, 137], &[137], C), 0x9D15_C75C_9330_43C3),
            ((&[100, 13], &[13], C), 0xA10F_A676_7F7E_19D1),
            ((&[700, 32], &[32], C), 0x399F_A218_F794_0501),
            ((&[700, 40], &[40], C), 0x00AB_C4CB_4D98_E85A),
            ((&[700, 40], &[700, 1], F), 0x7F6F_3FA9_99AA_654C),
            ((&[20, 4_100], &[4_100], C), 0x4EC1_998D_3086_DBC2),
            ((&[20, 31, 3], &[31, 1], C), 0x22F3_09A8_908F_E083),
            ((&[20, 31, 3], &[3], Gap), 0xE4A4_2B34_C2AB_21CD),
            ((&[20, 31, 3], &[20, 1, 3], Second), 0x5DA6_7E05_C856_A69C),
            ((&[8, 6, 14, 14], &[6, 1, 1], C), 0x48AD_F32A_557B_AA19),
            ((&[40, 30, 20], &[], C), 0xB5A0_E2D9_999B_9DBE),
        ],
        |&(shape, to, lie): &Case| {
            let row: Vec<f32> = (0..shape[shape.len() - 1]).map(single).collect();
            let (x, row) = (lie.array(shape, single), ArrayView::from(&row));
            let sums = broadcast_map_sum_to((&x, &row), to, |x, y| x * y).expect("shapes");
            digest(sums.iter().map(|x| u64::from(x.to_bits())))
        },
    );
}

/// Products of matrices and vectors: rows, terms, columns.
#[test]
fn products() {
    check(
        &[
            (([3, 3, 3], C), 0x5B82_3866_11BD_E96E),
            (([6, 6, 1], C), 0xD925_F37E_7D17_2CEB),
            (([5, 7, 9], C), 0x6064_6B47_1152_917C),
            (([5, 7, 9], F), 0x1260_2661_0B6F_C79F),
            (([5, 15, 1], C), 0x6EF7_B939_CDF0_BBCD),
            (([5, 16, 1], C), 0x761B_FA05_5302_156D),
            (([5, 61, 1], C), 0x77BE_5A53_A11B_DDC7),
            (([5, 61, 1], F), 0x3B69_71B2_A028_87C3),
            (([1, 61, 14], C), 0xBD5E_1E94_85B1_B8B1),
            (([2, 100, 3], F), 0xAFDF_38BF_FC74_173E),
            (([2, 100, 3], Gap), 0xE676_8C64_4080_E1C1),
        ],
        |&([m, n, p], lie)| {
            let (a, b) = (lie.array(&[2, m, n], single), lie.array(&[n, p], |i| single(7 * i)));
            let products = a.batch_dyn(2).expect("a base").matmul(&b.batch_dyn(2).expect("a base"));
            digest(products.expect("bases that fit").iter().map(|x| u64::from(x.to_bits())))
        },
    );
}

/// Reductions by a closure.
#[test]
fn reductions() {
    check::<Case>(
        &[
            // small arrays
            ((&[8, 8], &[0], C), 0x3C0D_3F03_50B1_E5F8),
            ((&[8, 8], &[1], C), 0x1163_37D5_0D8B_86FE),
            ((&[7, 9], &[0, 1], C), 0xBF6F_81C8_AC45_B5EB),
            // lanes
            ((&[300, 7], &[1], C), 0xE315_DB8D_4ACF_D0AE),
            ((&[300, 8], &[1], C), 0xA86F_938D_8AD9_1DF2),
            ((&[300, 9], &[1], Gap), 0x00B6_2849_7E56_80B3),
            ((&[100, 33], &[1], C), 0xAB06_5101_0E9A_7DD4),
            ((&[50, 100], &[1], C), 0x6B6B_D110_0CFA_B6AD),
            ((&[5, 4_099], &[1], C), 0x488E_D141_4778_2342),
            ((&[2, 70_001], &[1], C), 0x661C_48A2_D13B_F1E2),
            // rows, few and many
            ((&[100, 70], &[0], C), 0x2E3B_6EEB_FA31_9D84),
            ((&[130, 70], &[0], C), 0xD2FF_AE4A_94B6_DB77),
            ((&[9, 20, 70], &[0, 1], Gap), 0xB80A_329E_AEB5_9FDB),
            ((&[9, 20, 70], &[0, 2], C), 0x423E_6FA7_6E00_5CF7),
            // strided lanes
            ((&[100, 40], &[1], Second), 0x9EDA_0D3D_2A3B_CB5A),
            ((&[100, 30], &[1], C), 0x6F30_6EEB_9DB0_E07E),
            ((&[70, 130], &[0], F), 0x6E4B_DE3E_B541_B47E),
        ],
        of_reductions,
    );
}

/// Reductions of a closure's results.
#[test]
fn fused_reductions() {
    check::<Case>(
        &[
            ((&[8, 8], &[8], C), 0x6CC0_9A51_63F3_8462),
            ((&[50, 100], &[50, 1], C), 0x92AD_CE2D_C13C_5E32),
            ((&[100, 70], &[70], C), 0x7121_0415_ADD0_F72A),
            ((&[130, 70], &[70], C), 0xB54A_C1F3_E7C7_85C4),
            ((&[9, 20, 70], &[20, 1], Gap), 0xC453_4F1C_378D_C8BC),
        ],
        of_fused_reductions,
    );
}
